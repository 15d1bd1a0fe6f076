// SPDX-License-Identifier: Apache-2.0

package fault

// Catalogue lists every code once, in the order of the areas. The documentation page is made from it.
func Catalogue() []Entry {
	var all []Entry
	for _, area := range [][]Entry{
		daemonCodes(),
		languageCodes(),
		modelCodes(),
		controlCodes(),
		clockCodes(),
		timekeeperCodes(),
		relayCodes(),
		nodeCodes(),
		codecCodes(),
		evaluationCodes(),
		pluginCodes(),
		stateCodes(),
		resourceFileCodes(),
		sessionCodes(),
		cliCodes(),
		wireCodes(),
		wasmEngineCodes(),
		wasmCodes(),
		wasmProcessorCodes(),
	} {
		all = append(all, area...)
	}
	return all
}

var byCode = index()

func index() map[Code]Entry {
	m := make(map[Code]Entry)
	for _, e := range Catalogue() {
		m[e.Code] = e
	}
	return m
}

// Lookup gives the entry of a code; an unknown code is an internal fault that is not retried.
func Lookup(code Code) Entry {
	if e, ok := byCode[code]; ok {
		return e
	}
	return Entry{Code: code, Class: ClassInternal, Meaning: "unlisted fault"}
}
