/* global CSSStyleSheet, HTMLElement, ResizeObserver, customElements, location */
'use strict'

{
  const { profiler } = document.currentScript.dataset
  const css = 'TOOLBAR_CSS'
  const MAX_FETCHES = 100

  function make(name, properties = {}, ...children) {
    const element = document.createElement(name)
    for (const [key, value] of Object.entries(properties)) {
      if (key.includes('-')) element.setAttribute(key, value)
      else element[key] = value
    }
    element.append(...children)
    return element
  }

  // Remembered for the tab, unless the page has no access to storage.
  const memory = {
    get closed() {
      try {
        return sessionStorage.getItem('profiler-toolbar') === 'closed'
      } catch {
        return false
      }
    },
    set closed(closed) {
      try {
        sessionStorage.setItem('profiler-toolbar', closed ? 'closed' : 'open')
      } catch {}
    },
  }

  class ProfilerToolbar extends HTMLElement {
    #data = JSON.parse(profiler)
    #list = make('ol')
    #amount = make('span', { className: 'value', textContent: '0' })

    connectedCallback() {
      if (this.shadowRoot !== null) return
      const shadow = this.attachShadow({ mode: 'open' })
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(css)
      const place = new CSSStyleSheet()
      shadow.adoptedStyleSheets = [sheet, place]
      const { url, status, items } = this.#data
      const fetches = make(
        'div',
        { className: 'fetches', hidden: true, role: 'region', 'aria-label': 'Requests made by this page' },
        this.#list,
      )
      const toggleFetches = make(
        'button',
        { type: 'button', 'aria-expanded': 'false' },
        make('span', { className: 'label', textContent: 'Fetches' }),
        this.#amount,
      )
      toggleFetches.addEventListener('click', () => {
        fetches.hidden = !fetches.hidden
        toggleFetches.setAttribute('aria-expanded', String(!fetches.hidden))
      })
      const close = make('button', { type: 'button', 'aria-label': 'Collapse the toolbar', textContent: '\u00d7' })
      const root = make(
        'section',
        { className: 'root', 'aria-label': 'Profiler toolbar' },
        fetches,
        make(
          'div',
          { className: 'bar' },
          make('a', {
            href: url,
            className: `status ${status.tone}`,
            textContent: status.text,
            title: 'Open the profile',
          }),
          make(
            'ul',
            { className: 'items' },
            ...items.map(({ label, value, tone, url }) =>
              make(
                'li',
                {},
                make(
                  'a',
                  { href: url },
                  make('span', { className: 'label', textContent: label }),
                  make('span', { className: `value ${tone}`, textContent: value, title: value }),
                ),
              ),
            ),
            make('li', {}, toggleFetches),
          ),
          close,
        ),
      )
      const fold = closed => {
        root.classList.toggle('closed', closed)
        close.textContent = closed ? '\u203a' : '\u00d7'
        close.setAttribute('aria-label', closed ? 'Expand the toolbar' : 'Collapse the toolbar')
        memory.closed = closed
      }
      close.addEventListener('click', () => fold(!root.classList.contains('closed')))
      root.addEventListener('keydown', event => {
        if (event.key === 'Escape' && !fetches.hidden) toggleFetches.click()
      })
      fold(memory.closed)
      shadow.append(root)
      new ResizeObserver(() => place.replaceSync(`:host { height: ${root.offsetHeight}px }`)).observe(root)
      this.#watch()
    }

    // Reads the browser's resource timings instead of patching the page's fetch.
    #watch() {
      if (!PerformanceObserver.supportedEntryTypes.includes('resource')) return
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) {
          const own = entry.name.startsWith(`${location.origin}${this.#data.base}/`)
          if (!own && ['fetch', 'xmlhttprequest', 'beacon'].includes(entry.initiatorType)) this.#add(entry)
        }
      }).observe({ type: 'resource', buffered: true })
    }

    #add(entry) {
      const { base } = this.#data
      const url = new URL(entry.name)
      const local = url.origin === location.origin
      const path = local ? url.pathname + url.search : entry.name
      // Server-Timing has the token, but is only readable on https and localhost. Elsewhere a search finds the request.
      const token = entry.serverTiming?.find(({ name }) => name === 'token')?.description
      const href = token
        ? `${base}/${encodeURIComponent(token)}`
        : `${base}/search?url=${encodeURIComponent(url.pathname)}`
      const status = entry.responseStatus || 0
      const tone =
        status >= 500 ? 'error' : status >= 400 ? 'warning' : status >= 300 || status === 0 ? 'neutral' : 'good'
      this.#list.prepend(
        make(
          'li',
          {},
          make('span', { className: tone, textContent: String(status || '\u2013') }),
          make('span', { className: 'url' }, local ? make('a', { href, textContent: path }) : path),
          make('span', { className: 'value', textContent: `${Math.round(entry.duration)} ms` }),
        ),
      )
      if (this.#list.children.length > MAX_FETCHES) this.#list.lastChild.remove()
      this.#amount.textContent = String(Number(this.#amount.textContent) + 1)
    }
  }

  if (customElements.get('profiler-toolbar') === undefined) {
    customElements.define('profiler-toolbar', ProfilerToolbar)
    // Outside the body, so that it takes no part in the body's layout.
    document.documentElement.append(document.createElement('profiler-toolbar'))
  }
}
