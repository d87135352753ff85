"""One family of models each: the worksheets of trees, forests, boosters, rules, stacks and votes."""
