/* global EventSource, HTMLDetailsElement, addEventListener, location, setInterval */
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

function numberOf(text) {
  return Number(text.replaceAll(',', ''))
}

// New requests appear at the top of the list as they happen. They wait while the pointer or the focus is on it.
function follow(table) {
  const [live, pause, fresh] = ['.live', '.pause', '.fresh'].map(name => document.querySelector(name))
  const body = table.tBodies[0]
  const total = table.closest('section').querySelector('.count')
  const most = Math.max(10, body.rows.length)
  let waiting = []
  let missed = 0

  function add(row) {
    const holder = document.createElement('template')
    holder.innerHTML = row
    const added = holder.content.querySelector('tr')
    const poll = [...body.querySelectorAll('.polls')].find(({ dataset }) => dataset.key === added.dataset.key)
    if (poll !== undefined) {
      const link = poll.querySelector('th a:last-of-type')
      link.textContent = link.textContent.replace(/^[\d,]+/, count => (numberOf(count) + 1).toLocaleString('en'))
      poll.querySelector('time').replaceWith(added.querySelector('time'))
      return
    }
    body.prepend(added)
    if (body.rows.length > most) body.lastElementChild.remove()
  }

  function show() {
    const isBusy =
      live.classList.contains('paused') ||
      body.matches(':hover') ||
      body.contains(document.activeElement) ||
      body.querySelector(':checked') !== null
    if (!isBusy) {
      for (const row of waiting) add(row)
      total.textContent = (numberOf(total.textContent) + waiting.length).toLocaleString('en')
      waiting = []
    }
    const amount = waiting.length + missed
    fresh.hidden = amount === 0
    fresh.textContent = `${amount} new`
    showTimes()
  }

  const events = new EventSource(table.dataset.live)
  events.addEventListener('hello', () => {
    live.hidden = false
    pause.hidden = false
    show()
  })
  events.addEventListener('requests', ({ data }) => {
    const told = JSON.parse(data)
    waiting.push(...told.rows)
    // A page left alone for a day does not grow.
    missed += told.missed + Math.max(0, waiting.length - most)
    waiting = waiting.slice(-most)
    show()
  })
  events.addEventListener('error', () => {
    live.hidden = true
    fresh.hidden = false
    fresh.textContent = 'Reload'
  })
  pause.addEventListener('click', () => {
    pause.textContent = live.classList.toggle('paused') ? 'Resume' : 'Pause'
    show()
  })
  body.addEventListener('mouseleave', show)
}

for (const table of document.querySelectorAll('table[data-live]')) {
  if (typeof EventSource === 'function') follow(table)
}

// Two ticked requests can be compared. The tray says which; without this script, its button is simply there.
for (const tray of document.querySelectorAll('.tray')) {
  const ticks = () => [...document.querySelectorAll('input[name="request"]')].filter(({ checked }) => checked)
  const [chosen, button, clear] = ['.chosen', 'button', '.clear'].map(name => tray.querySelector(name))

  function showChosen() {
    const ticked = ticks()
    tray.hidden = ticked.length === 0
    button.disabled = ticked.length !== 2
    // The list has the newest first; A is the older one.
    const [b, a] = ticked.map(({ dataset }) => dataset.what)
    chosen.textContent = ticked.length === 2 ? `A ${a} · B ${b}` : `${ticked.length} of 2 selected`
  }

  clear.hidden = false
  clear.addEventListener('click', () => {
    for (const tick of ticks()) tick.checked = false
    showChosen()
  })
  document.addEventListener('change', showChosen)
  showChosen()
}

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
