/* global CSSStyleSheet, HTMLElement, ResizeObserver, TextEncoder, addEventListener, customElements, innerHeight, innerWidth, location, matchMedia */
'use strict'

{
  const { profiler } = document.currentScript.dataset
  const css = 'TOOLBAR_CSS'
  const MAX_FETCHES = 100
  const MAX_EVENTS = 20
  const MAX_REPORTS = 5
  const REPORT_BYTES = 15_000
  const GATHERING = 500

  function make(name, properties = {}, ...children) {
    const element = document.createElement(name)
    for (const [key, value] of Object.entries(properties)) {
      if (key.includes('-')) element.setAttribute(key, value)
      else element[key] = value
    }
    element.append(...children.filter(child => child !== null))
    return element
  }

  function attempt(call, otherwise) {
    try {
      return call()
    } catch {
      return otherwise
    }
  }

  // Sends what goes wrong on the page to its profile.
  class Reports {
    #url
    #events = []
    #seen = new Set()
    #left = MAX_REPORTS
    #timer = null

    constructor(url) {
      const policies = document.querySelectorAll('meta[http-equiv="content-security-policy" i]')
      const mayNot = [...policies].some(({ content }) => /(?:connect|default)-src/i.test(content))
      this.#url = mayNot ? null : url
      addEventListener('pagehide', () => this.#send())
    }

    // Returns whether the event is new.
    add(event) {
      const key = JSON.stringify([event.kind, event.message, event.place, event.status])
      if (this.#seen.has(key) || this.#seen.size >= MAX_EVENTS) return false
      this.#seen.add(key)
      this.#events.push({ ...event, time: performance.now() })
      this.#timer ??= setTimeout(() => this.#send(), GATHERING)
      return true
    }

    #send() {
      clearTimeout(this.#timer)
      this.#timer = null
      if (this.#url === null || this.#events.length === 0 || this.#left === 0) return
      this.#left--
      let count = this.#events.length
      const bodyOf = () => JSON.stringify({ events: this.#events.slice(0, count) })
      while (count > 1 && new TextEncoder().encode(bodyOf()).length > REPORT_BYTES) count--
      const body = bodyOf()
      this.#events.splice(0, count)
      if (this.#events.length > 0) this.#timer = setTimeout(() => this.#send(), GATHERING)
      const headers = { 'content-type': 'application/json' }
      fetch(this.#url, { method: 'POST', headers, body, keepalive: true, credentials: 'same-origin' }).catch(() => {})
    }
  }

  // Shows the spans of the server in the browser's Performance panel, where it waited for them.
  function showOnTrack({ duration, entries }) {
    const [page] = performance.getEntriesByType('navigation')
    if (!page || page.responseStart === 0 || page.transferSize === 0) return
    const arrival = Math.max(page.requestStart, page.responseStart - duration)
    for (const [name, color, start, took] of entries) {
      // The page may have a measure of this name.
      if (performance.getEntriesByName(name, 'measure').length > 0) continue
      const devtools = { dataType: 'track-entry', track: 'Server', trackGroup: 'fastify-profiler', color }
      performance.measure(name, { start: arrival + start, duration: took, detail: { devtools } })
      performance.clearMeasures(name)
    }
  }

  function textOf(read, length) {
    return attempt(() => String(read() ?? '').slice(0, length), '')
  }

  function renderCard({ title, note, warnings, rows, foot }, url) {
    return [
      make('p', { className: 'head' }, make('b', {}, title), note ? make('span', {}, note) : null),
      ...warnings.map(text =>
        make('p', { className: 'finding' }, make('span', { className: 'sr-only' }, 'Warning: '), make('b', {}, text)),
      ),
      make(
        'table',
        { role: 'presentation' },
        ...rows.map(cells => make('tr', {}, ...cells.map(text => make('td', { title: text }, text)))),
      ),
      // The entry itself leads there, too.
      make('p', { className: 'foot' }, make('a', { href: url, tabIndex: -1 }, 'Open'), make('span', {}, foot ?? '')),
    ]
  }

  class ProfilerToolbar extends HTMLElement {
    #data = JSON.parse(profiler)
    #reports = new Reports(this.#data.report)
    #fetches = make('ol')
    #fetchItem
    #fetchAmount = make('b', { className: 'value', textContent: '0' })
    #count = 0
    #failed = 0
    #errors = make('ol')
    #errorItem
    #errorAmount = make('b', { className: 'value error' })
    #open = null

    connectedCallback() {
      if (this.shadowRoot !== null) return
      const shadow = this.attachShadow({ mode: 'open' })
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(css)
      const place = new CSSStyleSheet()
      shadow.adoptedStyleSheets = [sheet, place]
      const { logs, status, items, url } = this.#data
      const close = make('button', { type: 'button', 'aria-label': 'Collapse the toolbar', textContent: '\u00d7' })
      const fetchButton = this.#button('Fetches', this.#fetchAmount)
      const errorLink = make('a', { href: logs, className: 'error' }, label('Errors'), this.#errorAmount)
      this.#fetchItem = this.#item(fetchButton, 'Requests made by this page', [this.#fetches])
      this.#errorItem = this.#item(errorLink, 'Errors of this page', [this.#errors])
      this.#errorItem.hidden = true
      const root = make(
        'section',
        { className: 'root', 'aria-label': 'Profiler toolbar' },
        make(
          'div',
          { className: 'bar' },
          this.#item(
            make('a', { href: url, className: `status ${status.tone}` }, make('b', {}, status.text)),
            'This request',
            renderCard(status.card, url),
            'div',
          ),
          make(
            'ul',
            { className: 'items' },
            ...items.map(({ label: name, value, tone, url, card }) => {
              const text = make('b', { className: `value ${tone}`, title: card ? '' : value }, value)
              const link = make('a', { href: url, className: tone }, label(name), text)
              return this.#item(link, name, card ? renderCard(card, url) : null)
            }),
            this.#errorItem,
            this.#fetchItem,
          ),
          close,
        ),
      )
      const fold = closed => {
        root.classList.toggle('closed', closed)
        close.textContent = closed ? '\u203a' : '\u00d7'
        close.setAttribute('aria-label', closed ? 'Expand the toolbar' : 'Collapse the toolbar')
        // Remembered for the tab, unless the page has no access to storage.
        attempt(() => sessionStorage.setItem('profiler-toolbar', closed ? 'closed' : 'open'))
      }
      close.addEventListener('click', () => fold(!root.classList.contains('closed')))
      fold(attempt(() => sessionStorage.getItem('profiler-toolbar') === 'closed', false))
      shadow.append(root)
      new ResizeObserver(() => place.replaceSync(`:host { height: ${root.offsetHeight}px }`)).observe(root)
      addEventListener('keydown', event => event.key === 'Escape' && this.#show(null), true)
      addEventListener('error', event => this.#addError(event))
      addEventListener('unhandledrejection', event => this.#addRejection(event))
      this.#watch()
      showOnTrack(this.#data.track)
    }

    #button(name, amount) {
      return make('button', { type: 'button', 'aria-expanded': 'false' }, label(name), amount)
    }

    // An entry, with a card that appears while the pointer or the focus is on it.
    #item(control, name, content, tag = 'li') {
      if (content === null) return make(tag, {}, control)
      const card = make('div', { className: 'card', role: 'group', 'aria-label': name, hidden: true }, ...content)
      const item = make(tag, {}, control, card)
      const leave = () => this.#open === item && this.#show(null)
      item.addEventListener('pointerenter', event => event.pointerType === 'mouse' && this.#show(item))
      item.addEventListener('pointerleave', event => event.pointerType === 'mouse' && !hasFocus(item) && leave())
      item.addEventListener('focusin', () => control.matches(':focus-visible') && this.#show(item))
      item.addEventListener('focusout', event => !item.contains(event.relatedTarget) && leave())
      control.addEventListener('click', event => {
        const isButton = control.localName === 'button'
        // Without a pointer that hovers, the first touch shows the card, which leads on.
        const isTouch = matchMedia('(hover: none)').matches && this.#open !== item
        if (!isButton && !isTouch) return
        event.preventDefault()
        this.#show(isButton && this.#open === item && event.detail === 0 ? null : item)
      })
      return item
    }

    #show(item) {
      const before = this.#open
      this.#open = item
      if (before !== item) before?.querySelector('.card').toggleAttribute('hidden', true)
      before?.firstChild.classList.remove('on')
      before?.querySelector('button')?.setAttribute('aria-expanded', 'false')
      if (item === null) return
      const card = item.querySelector('.card')
      card.hidden = false
      item.firstChild.classList.add('on')
      item.querySelector('button')?.setAttribute('aria-expanded', 'true')
      const most = Math.max(8, innerWidth - card.offsetWidth - 8)
      const bar = item.closest('.bar').getBoundingClientRect()
      card.style.insetInlineStart = 'auto'
      card.style.left = `${Math.min(most, Math.max(innerWidth < 640 ? 8 : 0, item.getBoundingClientRect().left))}px`
      card.style.bottom = `${innerHeight - bar.top}px`
    }

    #addError({ error, message, filename, lineno, colno }) {
      // Browsers report these for pages that work.
      if (!message || message.startsWith('ResizeObserver loop')) return
      this.#addProblem({
        kind: 'error',
        message: textOf(() => message, 1000),
        place: filename ? `${filename.slice(0, 500)}:${lineno}:${colno}` : null,
        stack: textOf(() => error?.stack, 2500) || null,
        status: null,
      })
    }

    #addRejection({ reason }) {
      const message = textOf(() => reason, 1000) || 'A promise was rejected'
      const stack = textOf(() => reason?.stack, 2500) || null
      this.#addProblem({ kind: 'rejection', message, place: null, stack, status: null })
    }

    #addProblem(event) {
      if (!this.#reports.add(event) || event.kind === 'request') return
      this.#errors.append(
        make('li', {}, make('span', { className: 'error' }, event.kind), make('span', {}, event.message)),
      )
      this.#errorItem.hidden = false
      this.#errorAmount.textContent = String(this.#errors.children.length)
    }

    // Reads the browser's resource timings instead of patching the page's fetch.
    #watch() {
      if (!PerformanceObserver.supportedEntryTypes.includes('resource')) return
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) {
          if (entry.name.startsWith(`${location.origin}${this.#data.base}/`)) continue
          const isFetch = ['fetch', 'xmlhttprequest', 'beacon'].includes(entry.initiatorType)
          const status = entry.responseStatus || 0
          // Other origins hide their status.
          const isLost = isFetch && status === 0 && new URL(entry.name).origin === location.origin
          // The browser asks for an icon on its own.
          const isIcon = entry.name === `${location.origin}/favicon.ico`
          const failed = 'responseStatus' in entry && !isIcon && (status >= 400 || isLost)
          const event = { kind: 'request', message: entry.name.slice(0, 1000), place: null, stack: null }
          if (failed) this.#addProblem({ ...event, status: status || null })
          if (isFetch) this.#addFetch(entry, status, failed)
        }
      }).observe({ type: 'resource', buffered: true })
    }

    #addFetch(entry, status, failed) {
      const { base } = this.#data
      const url = new URL(entry.name)
      const local = url.origin === location.origin
      const path = local ? url.pathname + url.search : entry.name
      // Server-Timing has the token, but is only readable on https and localhost. Elsewhere a search finds the request.
      const token = entry.serverTiming?.find(({ name }) => name === 'token')?.description
      const href = token
        ? `${base}/${encodeURIComponent(token)}`
        : `${base}/search?url=${encodeURIComponent(url.pathname)}`
      const tone = failed
        ? status >= 400 && status < 500
          ? 'warning'
          : 'error'
        : status >= 200 && status < 300
          ? 'good'
          : 'neutral'
      this.#fetches.prepend(
        make(
          'li',
          {},
          make('span', { className: tone, textContent: String(status || '\u2013') }),
          make('span', { className: 'url' }, local ? make('a', { href, textContent: path }) : path),
          make('span', { className: 'figure', textContent: `${Math.round(entry.duration)} ms` }),
        ),
      )
      if (this.#fetches.children.length > MAX_FETCHES) this.#fetches.lastChild.remove()
      this.#count++
      if (failed) this.#failed++
      this.#fetchAmount.textContent = this.#failed > 0 ? `${this.#count}, ${this.#failed} failed` : String(this.#count)
      if (this.#failed > 0) this.#fetchAmount.className = 'value error'
      if (this.#failed > 0) this.#fetchItem.firstChild.classList.add('error')
    }
  }

  function label(text) {
    return make('span', { className: 'label', textContent: text })
  }

  function hasFocus(element) {
    return element.matches(':focus-within') && element.firstChild.matches(':focus-visible')
  }

  if (customElements.get('profiler-toolbar') === undefined) {
    customElements.define('profiler-toolbar', ProfilerToolbar)
    // Outside the body, so that it takes no part in the body's layout.
    document.documentElement.append(document.createElement('profiler-toolbar'))
  }
}
