"""The figures of polybench/plot.py, one module each. A module has

    NAME                the figure's name and file name
    data(rows)          a pandas table of what is shown; empty if the results
                        have nothing for it
    draw(table, rows)   the matplotlib figure

rows is what results.load() returns. Needs pandas and matplotlib.
"""
