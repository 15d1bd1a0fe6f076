// SPDX-License-Identifier: Apache-2.0

package verify

import "github.com/nervix-go/nervix/wasm/engine"

// opener makes a backend, for instance shim.Open.
type opener = func(engine.BackendOptions) (engine.Backend, error)

// tap is a backend that notes the store made last. The kit has one caller.
type tap struct {
	engine.Backend
	last engine.Store
}

func (t *tap) open(below opener) opener {
	return func(o engine.BackendOptions) (engine.Backend, error) {
		b, err := below(o)
		t.Backend = b
		return t, err
	}
}

func (t *tap) Compile(wasm []byte) (engine.Code, error) {
	c, err := t.Backend.Compile(wasm)
	if err != nil {
		return nil, err
	}
	return &tappedCode{c, t}, nil
}

func (t *tap) Load(code []byte) (engine.Code, error) {
	c, err := t.Backend.Load(code)
	if err != nil {
		return nil, err
	}
	return &tappedCode{c, t}, nil
}

type tappedCode struct {
	engine.Code
	t *tap
}

func (c *tappedCode) Instantiate(req *engine.Request, res *engine.Result) engine.Store {
	s := c.Code.Instantiate(req, res)
	c.t.last = s
	return s
}
