module github.com/nervix-go/nervix/wasm/guest/go

go 1.24
