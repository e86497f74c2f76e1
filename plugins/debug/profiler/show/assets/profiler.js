/* global HTMLDetailsElement, addEventListener, location, matchMedia */
'use strict'

// Optional: every page is readable without this script.

for (const button of document.querySelectorAll('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy)
  if (source === null || navigator.clipboard === undefined) continue
  const label = button.textContent
  button.hidden = false
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(source.textContent)
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Copying failed'
    }
    setTimeout(() => {
      button.textContent = label
    }, 2000)
  })
}

// A link to an exception opens the folded parts around it.
function unfold() {
  const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null
  for (let element = target; element !== null; element = element.parentElement) {
    if (element instanceof HTMLDetailsElement) element.open = true
  }
}

addEventListener('hashchange', unfold)

// On a wide screen the search form is beside the results, so it can stay open.
const fold = document.querySelector('.search-fold')
if (fold !== null && matchMedia('(min-width: 56.01rem)').matches) fold.open = true

// Times are in UTC; the tooltip shows the reader's local time.
for (const time of document.querySelectorAll('time')) time.title = new Date(time.dateTime).toLocaleString()
