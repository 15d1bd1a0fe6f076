// SPDX-License-Identifier: Apache-2.0

package model

// Predicate is a compiled boolean expression. It stands for the program type of host/expr until that package has it.
type Predicate struct{}

// Construct is the compiled INHERIT, SET and WHERE of a route. It stands for the plan type of host/expr/construct.
type Construct struct{}

// Record is a compiled list of assignments that builds one record from others: error records and branch keys. It stands for the type of
// host/expr/construct.
type Record struct{}
