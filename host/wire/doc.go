// SPDX-License-Identifier: Apache-2.0

// Package wire holds what Nervix says in FlatBuffers: the schemas (fbs), the generated code (gen), and plain Go values with one encoder
// and one verified decoder for each kind of frame. Nothing else imports gen. The package is pure: bytes in, values out.
//
// Foreign bytes pass host/wire/verify before a member of them is read; see there for what is judged.
package wire

//go:generate ./generate.sh
