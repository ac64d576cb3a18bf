// Package acceptance tests this product on the stack: its schema and its access rules, its
// functions, its administration, and the whole program with one and with two replicas. The tests of
// the stack itself are below supabase/internal and know no product. The package has tests only;
// nothing imports it.
package acceptance
