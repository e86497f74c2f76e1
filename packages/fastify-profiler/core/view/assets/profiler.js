/* global HTMLDetailsElement, addEventListener, location, setInterval */
'use strict'

// Optional: every page is readable without this script.

for (const button of document.querySelectorAll('button[data-copy], button[data-copy-text]')) {
  const source = document.getElementById(button.dataset.copy)
  if (navigator.clipboard === undefined) continue
  const label = button.textContent
  button.hidden = false
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copyText ?? source.textContent)
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

// On a narrow screen the menu is one scrolling row.
const openPanel = document.querySelector('.menu [aria-current]')
if (openPanel !== null) openPanel.closest('.menu').scrollLeft = openPanel.offsetLeft - 32

// A text filter for log lines. The levels need no script.
for (const label of document.querySelectorAll('.log-filter')) {
  label.hidden = false
  label.querySelector('input').addEventListener('input', ({ target }) => {
    const wanted = target.value.toLowerCase()
    for (const line of label.closest('.logs').querySelectorAll('.log-lines > li')) {
      line.hidden = !line.textContent.toLowerCase().includes(wanted)
    }
  })
}

// Times are in UTC until here; a reader wants the local ones.
function ageOf(time) {
  const seconds = Math.floor((Date.now() - time) / 1000)
  if (seconds < 1) return 'just now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

function showTimes() {
  for (const element of document.querySelectorAll('time')) {
    const time = new Date(element.dateTime)
    if (Number.isNaN(time.getTime())) continue
    const isToday = time.toDateString() === new Date().toDateString()
    if (element.dataset.age !== undefined) element.textContent = ageOf(time.getTime())
    if (element.dataset.clock !== undefined) {
      element.textContent = isToday ? time.toLocaleTimeString() : time.toLocaleString()
    }
    element.title = time.toLocaleString()
  }
}

showTimes()
setInterval(showTimes, 10_000)

// Keys for the search box and for the rows of lists. A button lists them.
const keys = document.createElement('dialog')
keys.setAttribute('aria-labelledby', 'keys')
keys.innerHTML =
  '<h2 id="keys">Keys</h2><form method="dialog"><dl class="pairs"><div><dt><kbd>/</kbd></dt><dd>Search</dd></div><div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next and previous row</dd></div><div><dt><kbd>Enter</kbd></dt><dd>Open it</dd></div><div><dt><kbd>?</kbd></dt><dd>These keys</dd></div></dl><button>Close</button></form>'
const help = document.createElement('button')
help.type = 'button'
help.className = 'only-wide'
help.textContent = 'Keys'
help.addEventListener('click', () => keys.showModal())
document.querySelector('.top nav').append(help)
document.body.append(keys)

function move(step) {
  const rows = [...document.querySelectorAll('main :is(.lines tbody th a:first-of-type, .rows summary)')]
  const shown = rows.filter(row => row.checkVisibility())
  const at = shown.indexOf(document.activeElement)
  shown[Math.max(0, Math.min(at + step, shown.length - 1))]?.focus()
}

addEventListener('keydown', event => {
  const { altKey, ctrlKey, key, metaKey, target } = event
  if (altKey || ctrlKey || metaKey || keys.open || target.closest('input, select, textarea') !== null) return
  if (key === '/') document.querySelector('input[name="q"]')?.focus()
  else if (key === 'j') move(1)
  else if (key === 'k') move(-1)
  else if (key === '?') keys.showModal()
  else return
  event.preventDefault()
})
