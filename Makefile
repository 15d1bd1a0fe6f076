# Nervix. `make demo` shows it, `make test` proves it.
GO       ?= go
BIN      := bin
CONNECTORS := file

.PHONY: build demo test lint nocgo generate soak bench licenses clean

build:
	$(GO) build -o $(BIN)/nervixd ./cmd/nervixd
	CGO_ENABLED=0 $(GO) build -o $(BIN)/nervix ./cmd/nervix
	@mkdir -p $(BIN)/connectors
	@for kind in $(CONNECTORS); do \
	  CGO_ENABLED=0 $(GO) build -o $(BIN)/connectors/$$kind ./connectors/$$kind && \
	  $(BIN)/connectors/$$kind --descriptor > $(BIN)/connectors/$$kind.json || exit 1; \
	done

# The example pipelines on real data; writes below bin/ and demo-out/ only.
demo: build
	@./examples/weather/replay.sh
	@echo
	@./examples/weather/demo.sh

# One build with the race detector runs every test; the tag spoils released buffers, so that a read after release shows.
test:
	$(GO) test -race -tags invariants -count=1 -timeout 20m ./...

lint:
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

# cgo is fenced into wasm/engine/shim, its yardstick and capi; all else builds without a C compiler.
nocgo:
	CGO_ENABLED=0 $(GO) build $$($(GO) list -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v -e /wasm/engine/shim -e /wasm/engine/reference -e /bench/wasm -e /cmd/nervixd -e /capi)

# Regenerates everything that is generated; CI fails if that changes a file.
generate:
	./host/wire/generate.sh
	./host/wire/generate.sh wasm/protocol/fbs wasm/protocol/gen
	./plugins/proto/v1/generate.sh

# The long runs: 200 kills under load, 100 kills while defining, longer fuzzing.
soak:
	NERVIX_SOAK=1 $(GO) test -tags invariants -count=1 -timeout 60m ./...

# The figures of README.md; bench/peers brings Benthos and its dependencies.
bench: build
	@mkdir -p bench-out
	$(GO) test ./bench/relayhop -run '^$$' -bench . -benchtime 300000x -count 5 -cpu 2
	cd bench/peers && $(GO) build -o ../../bench-out/peers .
	$(GO) run ./bench/ndjson -nervixd $(BIN)/nervixd -peers bench-out/peers

licenses:
	@cd tools && $(GO) build -o ../$(BIN)/licenses ./licenses
	@$(BIN)/licenses ./cmd/... ./connectors/...

clean:
	rm -rf $(BIN) demo-out bench-out
