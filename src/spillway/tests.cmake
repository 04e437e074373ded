# Tests beside their code that are not an operator's.
