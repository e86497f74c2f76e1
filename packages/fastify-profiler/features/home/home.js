/* global EventSource, showTimes */
'use strict'

// Follows profiler.js: browsers get both as one file.

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
