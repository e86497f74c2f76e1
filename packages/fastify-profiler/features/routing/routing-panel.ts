import type { BuiltInPanel } from '../../core/panel.ts'
import type { NearMiss, Profile, Route, Routing } from '../../core/profile.ts'
import type { Block, Blocks, Inline } from '../../core/view/block.ts'
import { html, type Markup } from '../../core/view/html.ts'
import { code, plain } from '../../core/view/markdown.ts'
import { count } from '../../core/view/units.ts'
import { admitsMethod, isCatchAll } from './similar-routes.ts'

/** A part of a route's path as the request has it, lacks it, or has it in excess. */
interface PathPiece {
  text: string
  change: 'same' | 'missing' | 'excess'
}

type MatchedRoute = NonNullable<Routing['matched']>

/** A segment of a route that stands for any text: a parameter or a wildcard. */
const placeholder = /[:*]/

/**
 * What has to change in a requested path for a route to match: from the first letter that differs to the last one, in
 * each segment. A parameter matches any segment, and a wildcard the rest.
 */
export function comparePaths(asked: string, route: string): PathPiece[] {
  const [segments, wanted] = [asked.split('/'), route.split('/')]
  const pieces: PathPiece[] = []
  const add = (text: string, change: PathPiece['change']) => {
    const last = pieces.at(-1)
    if (last?.change === change) last.text += text
    else if (text !== '') pieces.push({ text, change })
  }
  // A wildcard matches the rest.
  if (wanted.at(-1) === '*') segments.splice(wanted.length - 1, Infinity, '*')
  // What both end with stays together: only the slash of /late//night is in excess.
  const tail: string[] = []
  while (segments.length !== wanted.length && wanted.length > 1 && segments.at(-1) === wanted.at(-1)) {
    tail.unshift(`/${wanted.pop()}`)
    segments.pop()
  }
  const length = Math.max(segments.length, wanted.length)
  for (let index = 0; index < length; index++) {
    const [segment, expected] = [segments[index], wanted[index]]
    const slash = index === 0 ? '' : '/'
    if (expected === undefined) add(`${slash}${segment}`, 'excess')
    else if (segment === undefined) add(`${slash}${expected}`, 'missing')
    else {
      add(slash, 'same')
      const isAny = placeholder.test(expected) && segment !== ''
      const start = isAny ? expected.length : sharedLetters(segment, expected)
      const rest = expected.slice(start).split('').reverse()
      const end = isAny ? 0 : sharedLetters(segment.slice(start).split('').reverse(), rest)
      add(expected.slice(0, start), 'same')
      add(expected.slice(start, expected.length - end), 'missing')
      if (!isAny) add(segment.slice(start, segment.length - end), 'excess')
      add(expected.slice(expected.length - end), 'same')
    }
  }
  add(tail.join(''), 'same')
  return pieces
}

/** How many letters two texts have in common before they differ. */
function sharedLetters(one: ArrayLike<string>, other: ArrayLike<string>): number {
  let shared = 0
  while (shared < one.length && one[shared] === other[shared]) shared++
  return shared
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

export function isRoutingFailure({ routing, status }: Pick<Profile, 'routing' | 'status'>): boolean {
  return routing.matched === null && (status === 404 || status === 405)
}

/** What would have to change for the route to match. */
function nearMissText({ host, reason, url, version }: NearMiss, path: string): string {
  switch (reason) {
    case 'method':
      return isCatchAll({ url }) ? 'Takes any path' : 'Same path'
    case 'slash':
      return path.endsWith('/') ? 'Drop the slash at the end' : 'Add a slash at the end'
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
function nearPaths(misses: readonly NearMiss[]): NearMiss[] {
  const byPath = new Map<string, NearMiss>()
  for (const miss of misses) {
    const { host, location, reason, url, version } = miss
    const key = JSON.stringify([url, host, version, reason, location?.file, location?.line])
    const known = byPath.get(key)
    byPath.set(key, known === undefined ? miss : { ...known, method: [...new Set([...known.method, ...miss.method])] })
  }
  return [...byPath.values()]
}

export function nearestRoutes({ routing, method, path }: Profile): Blocks {
  const misses = nearPaths(routing.nearMisses)
  const routes = `The application has ${count(routing.routes, 'route')}.`
  const { gaveUp } = routing
  const note: Blocks =
    gaveUp === undefined
      ? []
      : [{ text: [{ code: gaveUp.url }, ' takes any path, but called reply.callNotFound(). ', placeOfRoute(gaveUp)] }]
  if (misses.length === 0) {
    const none = gaveUp === undefined ? 'No route matches ' : 'No other route matches '
    return [...note, { text: [none, { code: `${method} ${path}` }, `, and none is similar. ${routes}`] }]
  }
  return [
    ...note,
    {
      title: 'Similar routes',
      className: 'near',
      columns: [{ label: 'Method', kind: 'short' }, { label: 'Route' }, { label: 'To match' }, { label: 'Defined in' }],
      rows: misses.map(miss => {
        const isOther = miss.reason === 'method' || !admitsMethod(miss, method)
        return [
          miss.method.map(name => methodName(name, isOther)),
          routeName(miss, path),
          `${nearMissText(miss, path)}${isOther ? `, but only for ${miss.method.join(', ')}` : ''}`,
          { place: miss.location },
        ]
      }),
    },
    { text: [{ html: html`What differs is marked. `, markdown: '' }, routes], look: 'muted' },
  ]
}

function methodName(name: string, differs: boolean): Inline {
  return {
    html: html`<span class="badge ${differs ? 'differs' : 'neutral'}">${name}</span> `,
    markdown: `${plain(name)} `,
  }
}

function routeName({ host, reason, url, version }: NearMiss, path: string): Inline {
  const isPath = reason === 'similar' || reason === 'slash' || reason === 'case'
  const pieces: readonly PathPiece[] = isPath ? comparePaths(path, url) : [{ text: url, change: 'same' }]
  return [
    { html: html`<code>${pieces.map(renderPiece)}</code>`, markdown: code(url) },
    host === null ? null : { small: ` on ${host}` },
    version === undefined ? null : { small: ` version ${version}` },
  ]
}

/** A route's path with what the request lacks marked, and what it has in excess struck. */
function renderPiece({ text, change }: PathPiece): Markup {
  if (change === 'missing') return html`<mark class="differs">${text}</mark>`
  return change === 'excess' ? html`<del>${text}</del>` : html`${text}`
}

function matchedRoute({ handler, host, location, method, params, plugin, url, version }: MatchedRoute): Blocks {
  const given = Object.entries(params)
  return [
    {
      title: 'Matched route',
      pairs: [
        ['Route', { code: `${method.join(', ')} ${url}` }],
        ['Host', { value: host ?? 'any' }],
        ...(version === undefined ? [] : [['Version', { value: version }] as const]),
        ['Handler', { value: handler }],
        ['Plugin', { value: plugin ?? 'none' }],
        ['Defined in', { place: location }],
      ],
    },
    given.length > 0 && {
      section: 'Parameters',
      count: given.length,
      blocks: [{ title: 'Parameters', pairs: given.map(([name, value]) => [name, { value }]) }],
    },
  ]
}

export const routingPanel: BuiltInPanel<Routing> = {
  name: 'routing',
  label: 'Routing',
  read: ({ routing }) => routing,
  opens: profile => (isRoutingFailure(profile) ? 3 : 0),
  badge: ({ matched }) => (matched === null ? { text: 'no match', tone: 'warning' } : null),
  toolbarItem: ({ matched }) =>
    matched === null
      ? { label: 'Route', value: 'none', tone: 'warning' }
      : { label: 'Route', value: matched.url, tone: 'neutral' },
  view({ matched, routes }, { profile }) {
    if (matched === null) return nearestRoutes(profile)
    return [...matchedRoute(matched), { text: `The application has ${count(routes, 'route')}.`, look: 'muted' }]
  },
}

export function routeList(routes: readonly Route[]): Block {
  return {
    title: 'Routes',
    columns: [{ label: 'Methods', kind: 'short' }, { label: 'Route' }, { label: 'Handler' }],
    rows: routes.map(route => [
      route.method.join(', '),
      [{ code: route.url }, route.host === null ? null : ` on ${route.host}`],
      [`${route.handler} `, placeOfRoute(route)],
    ]),
  }
}

function placeOfRoute({ location, plugin }: Route): Inline {
  return { small: [plugin === null ? null : `plugin ${plugin} `, { place: location }] }
}
