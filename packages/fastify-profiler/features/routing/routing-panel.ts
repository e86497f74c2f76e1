import type { BuiltInPanel, ViewContext } from '../../core/panel.ts'
import type { NearMiss, Profile, Route, Routing } from '../../core/profile.ts'
import { locationText, renderKeyValueTable, renderLocation, renderSection } from '../../core/view/elements.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { blocks, code, plain, table } from '../../core/view/markdown.ts'
import { count } from '../../core/view/units.ts'

/** A part of a route's path as the request has it, lacks it, or has it in excess. */
interface PathPiece {
  text: string
  change: 'same' | 'missing' | 'excess'
}

/** Longer paths are compared as wholes. */
const longest = 200

/**
 * What has to change in a requested path for a route to match, letter by letter. A parameter matches any text without a
 * slash, and a wildcard any text.
 */
export function comparePaths(asked: string, route: string): PathPiece[] {
  const tokens = route.match(/:[\w]+(?:\([^/]*\))?\??|\*|./gs) ?? []
  if (asked.length > longest || tokens.length > longest) return [{ text: route, change: 'same' }]
  // The last shared letter is compared too, because what a parameter matches depends on the letter before it.
  const start = Math.max(0, sharedLetters(asked, tokens) - 1)
  const pieces = compareTokens(asked.slice(start), tokens.slice(start))
  return pieces.map((piece, index) => (index === 0 ? { ...piece, text: route.slice(0, start) + piece.text } : piece))
}

/** How many letters the path and the route have in common before they differ, or before a parameter. */
function sharedLetters(asked: string, tokens: readonly string[]): number {
  const end = tokens.findIndex((token, at) => token !== asked[at])
  return end === -1 ? tokens.length : end
}

function compareTokens(asked: string, tokens: readonly string[]): PathPiece[] {
  const costs = costsOf(asked, tokens)
  const pieces: PathPiece[] = []
  const add = (text: string, change: PathPiece['change']) => {
    const last = pieces.at(-1)
    if (last?.change === change) last.text += text
    else pieces.push({ text, change })
  }
  const cost = (at: number, from: number) => costs[at]?.[from] ?? Infinity
  for (let at = 0, from = 0; at < tokens.length || from < asked.length;) {
    const token = tokens[at]
    const here = cost(at, from)
    const until = endsOf(asked, from, tokens, at).find(end => cost(at + 1, end) === here)
    if (token !== undefined && until !== undefined) {
      add(token, 'same')
      at++
      from = until
    } else if (token !== undefined && cost(at + 1, from) + 1 === here) {
      add(token, 'missing')
      at++
    } else {
      add(asked.charAt(from), 'excess')
      from++
    }
  }
  return pieces
}

/** The least number of letters to add or drop from each place in the route and the path to the end of both. */
function costsOf(asked: string, tokens: readonly string[]): number[][] {
  let next = Array.from({ length: asked.length + 1 }, (_, from) => asked.length - from)
  const costs = [next]
  for (let at = tokens.length - 1; at >= 0; at--) {
    const row: number[] = []
    for (let from = asked.length; from >= 0; from--) {
      const matched = costMatched(next, asked, from, tokens, at)
      row[from] = Math.min(matched, (next[from] ?? Infinity) + 1, (row[from + 1] ?? Infinity) + 1)
    }
    costs.unshift(row)
    next = row
  }
  return costs
}

/** The cost after the text that a token matches; Infinity if it matches none. */
function costMatched(
  next: readonly number[],
  asked: string,
  from: number,
  tokens: readonly string[],
  at: number,
): number {
  const token = tokens[at]
  // Most tokens are letters. An array for each of them takes four times as long.
  if (token !== '*' && token?.length === 1) return asked[from] === token ? (next[from + 1] ?? Infinity) : Infinity
  return Math.min(...endsOf(asked, from, tokens, at).map(end => next[end] ?? Infinity))
}

/** Where the text that a token matches may end, longest first. */
function endsOf(asked: string, from: number, tokens: readonly string[], at: number): number[] {
  const token = tokens[at]
  if (token === '*') return [asked.length]
  if (token === undefined || token.length === 1) return asked.charAt(from) === token ? [from + 1] : []
  if (tokens[at - 1] === '/' && asked.charAt(from - 1) !== '/') return []
  const slash = asked.indexOf('/', from)
  const end = slash === -1 ? asked.length : slash
  const isWhole = (tokens[at + 1] ?? '/') === '/'
  return Array.from({ length: isWhole ? Math.min(1, end - from) : end - from }, (_, index) => end - index)
}

/** The change in words: Add “s”; Drop “x”; “artists” for “artwork”. */
export function differenceText(pieces: readonly PathPiece[]): string {
  const changes: string[] = []
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]
    const next = pieces[index + 1]
    if (piece === undefined || piece.change === 'same') continue
    if (next !== undefined && next.change !== 'same') {
      // What is missing always comes before what is in excess.
      changes.push(`“${piece.text}” for “${next.text}”`)
      index++
    } else changes.push(`${piece.change === 'missing' ? 'add' : 'drop'} “${piece.text}”`)
  }
  const text = changes.length > 3 ? 'similar path' : changes.join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Whether no route matched the method and path. */
export function isRoutingFailure({ routing, status }: Pick<Profile, 'routing' | 'status'>): boolean {
  return routing.matched === null && (status === 404 || status === 405)
}

/** What would have to change for the route to match. */
export function nearMissText({ host, method, reason, url, version }: NearMiss, path: string): string {
  switch (reason) {
    case 'method':
      return `Same path, but only for ${method.join(', ')}`
    case 'slash':
      return url.endsWith('/') ? 'Add a slash at the end' : 'Drop the slash at the end'
    case 'host':
      return `Same path, but only on host ${host ?? 'another'}`
    case 'version':
      return `Same path, but only in version ${version ?? 'another'}`
    case 'constraint':
      return 'Same path under another constraint'
    case 'parameter':
      return 'A parameter does not match its pattern'
    case 'case':
      return 'Same path in another case'
    case 'similar':
      return differenceText(comparePaths(path, url))
  }
}

/** The near misses with one entry for each path that is defined in one place, whatever its methods. */
export function nearPaths(misses: readonly NearMiss[]): NearMiss[] {
  const byPath = new Map<string, NearMiss>()
  for (const miss of misses) {
    const { host, location, reason, url, version } = miss
    const key = JSON.stringify([url, host, version, reason, location?.file, location?.line])
    const known = byPath.get(key)
    byPath.set(key, known === undefined ? miss : { ...known, method: [...new Set([...known.method, ...miss.method])] })
  }
  return [...byPath.values()]
}

/** The routes most similar to the request, nearest first. */
export function renderNearMisses(
  { routing, method, path }: Profile,
  context: Pick<ViewContext, 'root' | 'editorUrl'>,
): Markup {
  const misses = nearPaths(routing.nearMisses)
  if (misses.length === 0) {
    return html`<p>No route matches <code>${method} ${path}</code>, and none is similar. The application has ${count(routing.routes, 'route')}.</p>`
  }
  return html`<div class="scroll" role="region" aria-label="Similar routes" tabindex="0"><table class="near">
<caption class="sr-only">Similar routes</caption>
<thead><tr><th scope="col">Method</th><th scope="col">Route</th><th scope="col">To match</th><th scope="col">Defined in</th></tr></thead>
<tbody>${misses.map(
    miss => html`
<tr><td class="short">${miss.method.map(name => renderMethod(name, miss.reason === 'method'))}</td><th scope="row">${renderRoute(miss, path)}</th><td>${nearMissText(miss, path)}</td><td>${renderLocation(miss.location, context)}</td></tr>`,
  )}
</tbody></table></div>
<p class="muted">What differs is marked. The application has ${count(routing.routes, 'route')}.</p>`
}

function renderMethod(name: string, differs: boolean): Markup {
  return html`<span class="badge ${differs ? 'differs' : 'neutral'}">${name}</span> `
}

function renderRoute({ host, reason, url, version }: NearMiss, path: string): Markup {
  const isPath = reason === 'similar' || reason === 'slash' || reason === 'case'
  const pieces: readonly PathPiece[] = isPath ? comparePaths(path, url) : [{ text: url, change: 'same' }]
  return html`<code>${pieces.map(renderPiece)}</code>${host !== null && html` <span class="muted">on ${host}</span>`}${version !== undefined && html` <span class="muted">version ${version}</span>`}`
}

/** A route's path with what the request lacks marked, and what it has in excess struck. */
export function renderPiece({ text, change }: PathPiece): Markup {
  if (change === 'missing') return html`<mark class="differs">${text}</mark>`
  return change === 'excess' ? html`<del>${text}</del>` : html`${text}`
}

/** The matched route, or the nearest routes if none matched. */
export function routingMarkdown({ routing, method, path }: Profile, root: string): string {
  const { matched, nearMisses, routes } = routing
  if (matched !== null) {
    return `Matched ${code(`${matched.method.join(', ')} ${matched.url}`)}, handled by ${code(matched.handler)}.`
  }
  const asked = code(`${method} ${path}`)
  if (nearMisses.length === 0) {
    return `No route matches ${asked}, and none is similar. The application has ${count(routes, 'route')}.`
  }
  return blocks(
    `No route matches ${asked}. Nearest of ${count(routes, 'route')}:`,
    table(
      ['Methods', 'Route', 'Difference', 'Defined in'],
      nearMisses.map(miss => [
        miss.method.join(', '),
        code(miss.url),
        nearMissText(miss, path),
        miss.location === null ? '' : code(locationText(miss.location, root)),
      ]),
    ),
  )
}

/** The matched route, or the nearest routes if none matched. */
export const routingPanel: BuiltInPanel<Routing> = {
  name: 'routing',
  label: 'Routing',
  read: ({ routing }) => routing,
  badge: ({ matched }) => (matched === null ? { text: 'no match', tone: 'warning' } : null),
  toolbarItem: ({ matched }) =>
    matched === null
      ? { label: 'Route', value: 'none', tone: 'warning' }
      : { label: 'Route', value: matched.url, tone: 'neutral' },
  body: ({ matched, routes }, context) => {
    if (matched === null) return renderNearMisses(context.profile, context)
    const params = Object.entries(matched.params)
    return html`${renderKeyValueTable('Matched route', [
      ['Route', html`<code>${matched.method.join(', ')} ${matched.url}</code>`],
      ['Host', matched.host ?? 'any'],
      ...(matched.version === undefined ? [] : [['Version', matched.version] as const]),
      ['Handler', matched.handler],
      ['Plugin', matched.plugin ?? 'none'],
      ['Defined in', renderLocation(matched.location, context)],
    ])}
${params.length > 0 && renderSection('Parameters', renderKeyValueTable('Parameters', params), params.length)}
<p class="muted">The application has ${count(routes, 'route')}.</p>`
  },
  markdown: (_, { profile, root }) => routingMarkdown(profile, root),
}

/** The routes of an application as a table. */
export function routesMarkdown(routes: readonly Route[], root: string): string {
  return table(
    ['Methods', 'Route', 'Handler', 'Registered at'],
    routes.map(({ method, url, host, handler, location }) => [
      method.join(', '),
      `${code(url)}${host === null ? '' : ` on ${code(host)}`}`,
      plain(handler),
      location === null ? '' : code(locationText(location, root)),
    ]),
  )
}
