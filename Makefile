# Nervix. `make demo` shows it, `make test` proves it.
GO       ?= go
BIN      := bin
CONNECTORS := file

.PHONY: build demo test lint generate soak licenses clean

build:
	$(GO) build -o $(BIN)/nervixd ./cmd/nervixd
	CGO_ENABLED=0 $(GO) build -o $(BIN)/nervix ./cmd/nervix
	@mkdir -p $(BIN)/connectors
	@for kind in $(CONNECTORS); do \
	  CGO_ENABLED=0 $(GO) build -o $(BIN)/connectors/$$kind ./connectors/$$kind && \
	  $(BIN)/connectors/$$kind --descriptor > $(BIN)/connectors/$$kind.json || exit 1; \
	done

# The example pipeline on real data; writes below bin/ and demo-out/ only.
demo: build
	@./examples/weather/demo.sh

# One build with the race detector runs every test.
test:
	$(GO) test -race -count=1 ./...

lint:
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

# Regenerates everything that is generated; CI fails if that changes a file.
generate:
	./host/wire/generate.sh
	./plugins/proto/v1/generate.sh

# The long runs: 200 kills under load, 100 kills while defining, longer fuzzing.
soak:
	NERVIX_SOAK=1 $(GO) test -count=1 -timeout 60m ./...

licenses:
	@cd tools && $(GO) build -o ../$(BIN)/licenses ./licenses
	@$(BIN)/licenses ./cmd/... ./connectors/...

clean:
	rm -rf $(BIN) demo-out bench-out
