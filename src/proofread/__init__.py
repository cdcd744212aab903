"""How the book is checked and published. Knows nothing of attention.

In the order in which they are best read:

    pages census stock                          what a page holds, and who checks it
    fresh capture tensors run                   a program, as in a fresh interpreter
    printed rounding compare listing            what it prints
    numerals expressions prose                  what sentences say of that
    settings items account record changed plugin    all of it as tests
    code_paths prove mutants mutate faults      whether the tests are to be trusted
    mathml jupyter keep labs generated          what pages are made of besides
    cells notebooks takeaway                    what a reader can take home
    mentioned explained                         names, and where they are explained
    tidy sought cite llms offline policy        the site and what belongs to it
    verified build serve                        all of it, built and shown
    shown published                             the site against its pages
    environment run_cells kernel trials reader  what a reader takes from it
    shapes                                      what a program has made, under it
"""
