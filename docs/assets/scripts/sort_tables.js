// The columns of a table in `.hw-sorts` can be sorted, by a button in each header. The
// first click sorts up, the second down, the third gives back the order of the page. Rows
// that are headings of a group are hidden while rows of several groups mix. A cell without
// a number counts as that of the first row, as the page says of its empty cells.

addEventListener("DOMContentLoaded", () => {
  const ORDERS = ["none", "ascending", "descending"]
  for (const table of document.querySelectorAll(".hw-sorts table")) {
    const body = table.tBodies[0]
    const headers = [...table.tHead.rows[0].cells]
    const rows = [...body.rows].map((row) => {
      const texts = [...row.cells].map((cell) => cell.textContent.trim())
      return { row, texts, isHeading: texts.slice(1).every((text) => !text) }
    })
    const variants = rows.filter(({ isHeading }) => !isHeading)
    const number = (text) => Number.parseFloat(text.replaceAll(",", ""))

    const sort = (column, order) => {
      const first = variants[0].texts[column]
      const isNumber = !Number.isNaN(number(first))
      const value = ({ texts: { [column]: text } }) =>
        isNumber && Number.isNaN(number(text)) ? first : text
      const compare = (a, b) =>
        isNumber ? number(value(a)) - number(value(b)) : value(a).localeCompare(value(b))
      const sign = order === "descending" ? -1 : 1
      const sorted = [...variants].sort((a, b) => sign * compare(a, b))
      for (const { row, isHeading } of rows) row.hidden = isHeading && order !== "none"
      body.append(...(order === "none" ? rows : sorted).map(({ row }) => row))
    }

    headers.forEach((header, column) => {
      const button = document.createElement("button")
      button.type = "button"
      button.append(...header.childNodes)
      header.append(button)
      button.addEventListener("click", () => {
        const next = ORDERS[(ORDERS.indexOf(header.ariaSort ?? "none") + 1) % ORDERS.length]
        for (const one of headers) one.ariaSort = one === header ? next : "none"
        sort(column, next)
      })
    })
  }
})
