"""Programs that are interrupted at random moments, and what each of them must have got."""
