import type { DatabaseUse, Exception, Frame, HttpCall, Json, NearMiss } from '../../core/profile.ts'
import type { Configuration } from '../../core/store/store-directory.ts'
import type { Profile, Query, Span, SpanKind } from '../../core/profile.ts'
import type { ProfileSummary } from '../../core/summary.ts'
import type { Panel, ViewContext } from '../../core/panel.ts'
import type { Samples } from '../../features/samples/samples.ts'
import type { RawSamples } from '../../features/samples/sampling.ts'

const root = '/srv/museum'

/** A place in the example application. */
const place = (file: string, line: number, column: number) => ({ file: `${root}/${file}`, line, column })

/** A span of a hook, with the given changes. */
export function span(changes: Partial<Span>): Span {
  return {
    parent: null,
    kind: 'hook',
    name: 'setLocale',
    hook: 'onRequest',
    routeLevel: false,
    dispatchPoint: 'kernel.request',
    plugin: 'locale',
    location: place('plugins/locale.ts', 12, 7),
    start: 0,
    duration: 1,
    outcome: 'continued',
    detail: null,
    ...changes,
  }
}

/** A span of a plugin's hook. */
const hook = (plugin: string, name: string, start: number, duration: number, changes: Partial<Span> = {}) =>
  span({ plugin, name, start, duration, ...changes })

/** A span that is none of a hook. */
const call = (kind: SpanKind, name: string, start: number, duration: number, changes: Partial<Span> = {}) =>
  span({ kind, name, start, duration, hook: null, dispatchPoint: null, plugin: null, ...changes })

type Point = Profile['lifecycle'][number]

function point(
  name: Point['name'],
  start: number | null,
  duration: number | null,
  changes: Partial<Point> = {},
): Point {
  return { name, hooks: [], start, duration, listeners: [], interrupted: null, ...changes }
}

/** A query of PostgreSQL, with the given changes. */
export function exampleQuery(changes: Partial<Query> = {}): Query {
  return {
    system: 'postgresql',
    sql: 'select 1',
    parameters: [],
    start: 0,
    duration: 1,
    waited: 0,
    blocked: 0,
    rows: 1,
    error: null,
    location: null,
    transaction: null,
    ...changes,
  }
}

/** The queries of a request, with the given changes. */
export function exampleUse(queries: Query[], changes: Partial<DatabaseUse> = {}): DatabaseUse {
  const totals = { count: queries.length, failed: 0, rows: queries.length, duration: 0, waited: 0, transactions: 0 }
  return { ...totals, shapes: new Set(queries.map(({ sql }) => sql)).size, repetitions: [], queries, ...changes }
}

/** An outgoing request, with the given changes. */
export function exampleCall(changes: Partial<HttpCall> = {}): HttpCall {
  return {
    method: 'GET',
    url: 'http://prices.example/7',
    status: 200,
    size: 512,
    start: 6,
    head: 5.1,
    duration: 5.5,
    blocked: 0,
    error: null,
    location: null,
    token: null,
    ...changes,
  }
}

/** A frame of the application's own code with the lines around it. */
export function ownFrame(changes: Partial<Frame> = {}): Frame {
  return {
    function: 'showMuseum',
    kind: 'own',
    file: `${root}/routes/museums.ts`,
    line: 41,
    column: 11,
    excerpt: {
      first: 36,
      line: 41,
      lines: [
        ' */',
        'async function showMuseum (request: MuseumRequest) {',
        "  const { id } = request.params // as the schema says: 'integer'",
        '  const museum = await loadMuseum(id)',
        '  if (museum === null) {',
        '    throw new MuseumError(id, { cause }) // what lies beneath',
        '  }',
        '  return museum',
        '}',
      ],
    },
    ...changes,
  }
}

/** Frames outside the application's own code. */
export function foreignFrames(): Frame[] {
  return [
    { function: 'preHandlerCallback', kind: 'module', ...place('node_modules/fastify/lib/handle-request.js', 137, 37) },
    { function: 'next', kind: 'module', ...place('node_modules/@fastify/cookie/plugin.js', 20, 3) },
    { function: null, kind: 'node', file: 'node:internal/process/task_queues', line: 105, column: 5 },
  ]
}

/** A recorded exception, with the given changes. */
export function exception(changes: Partial<Exception> = {}): Exception {
  return {
    class: 'MuseumError',
    message: 'Museum 7 could not be shown',
    code: null,
    statusCode: null,
    relation: 'thrown',
    parent: null,
    properties: {},
    frames: [ownFrame(), ...foreignFrames()],
    ...changes,
  }
}

/** Yesterday, because a store deletes profiles of more than a week. */
const time = Date.now() - 24 * 60 * 60 * 1000

/** A successful request, with the given changes. */
export function profile(changes: Partial<Profile> = {}): Profile {
  return {
    version: 11,
    token: 'k3Jx9PzQ4wTn',
    parent: null,
    time,
    duration: 24.6,
    status: 200,
    outcome: 'completed',
    method: 'GET',
    url: '/museums/7?lang=fr&page=2',
    path: '/museums/7',
    host: 'louvre.example',
    ip: '127.0.0.1',
    protocol: 'http',
    httpVersion: '1.1',
    requestId: 'req-1a',
    request: {
      headers: [
        ['host', 'louvre.example'],
        ['cookie', 'locale=fr; session=••••••'],
      ],
      query: { lang: 'fr', page: '2' },
      params: { id: 7 },
      cookies: { locale: 'fr', session: '••••••' },
      body: null,
      contentType: null,
      bodySize: 0,
    },
    response: {
      headers: [['content-type', 'text/html; charset=utf-8']],
      contentType: 'text/html; charset=utf-8',
      bodySize: 5120,
      streamed: false,
    },
    exceptions: [],
    logs: [
      { level: 30, start: 0.2, message: 'incoming request', fields: { req: { method: 'GET', url: '/museums/7' } } },
      { level: 20, start: 3.1, message: 'license found', fields: { domain: 'louvre.example', from: 'cache' } },
      { level: 40, start: 12.8, message: 'museum has no picture', fields: { museum: 7 } },
      { level: 30, start: 24.4, message: 'request completed', fields: { responseTime: 24.4 } },
    ],
    spans: [
      hook('license', 'lookUpLicense', 0.3, 5.4, { location: place('plugins/license.ts', 31, 7) }),
      call('cache', 'license', 0.4, 0.1, {
        parent: 0,
        plugin: 'license',
        detail: 'licenses:louvre.example',
        location: null,
      }),
      call('query', 'select licenses', 0.6, 4.8, {
        parent: 0,
        detail: 'select * from "licenses" where "domain" = $1 order by "id" limit 1',
        location: place('src/entities/licenses.ts', 18, 14),
      }),
      hook('locale', 'setLocale', 5.8, 0.05),
      hook('access', 'checkAccess', 5.9, 2.2, { location: place('plugins/access.ts', 22, 7) }),
      call('validation', 'validation', 8.2, 0.3, { location: null }),
      hook('firewall', 'loadUser', 8.6, 1.4, {
        hook: 'preHandler',
        dispatchPoint: 'kernel.controller',
        routeLevel: true,
      }),
      call('handler', 'showMuseum', 10.1, 12.7, { plugin: 'museums', location: place('routes/museums.ts', 36, 1) }),
      call('query', 'select museums', 10.4, 6.1, { parent: 7, detail: 'select * from "museums" where "id" = $1' }),
      call('query', 'select platforms', 10.6, 9.3, { parent: 7, detail: 'select * from "platforms"' }),
      hook('firewall', 'renewCookie', 23, 0.6, { hook: 'onSend', dispatchPoint: 'kernel.response' }),
      hook('profiler', 'closeProfile', 24, 0.4, { hook: 'onResponse', dispatchPoint: 'kernel.finish_request' }),
    ],
    lifecycle: [
      point('kernel.request', 0.2, 8, { listeners: [0, 3, 4] }),
      point('kernel.controller', 8.5, 1.5, { listeners: [6] }),
      point('kernel.controller_arguments', 10, 0),
      point('kernel.response', 22.9, 0.8, { listeners: [10] }),
      point('kernel.finish_request', 24, 0.5, { listeners: [11] }),
    ],
    routing: {
      matched: {
        method: ['GET'],
        url: '/museums/:id',
        host: null,
        handler: 'showMuseum',
        plugin: 'museums',
        location: place('routes/museums.ts', 12, 5),
        params: { id: 7 },
      },
      nearMisses: [],
      routes: 14,
    },
    database: exampleUse([], { count: 2, rows: 2, duration: 3.4, waited: 0.4 }),
    http: { count: 1, failed: 0, duration: 5.5, calls: [exampleCall()] },
    eventLoop: { utilization: 0.31, active: 7.6, idle: 17, blocked: [] },
    memory: { heapUsedAtStart: 31_000_000, heapUsedAtEnd: 31_400_000, heapTotal: 48_000_000, heapLimit: 4_345_000_000 },
    process: { id: 4711, startedAt: time - 667_000 },
    configuration: 'c1',
    dropped: [],
    notes: [],
    cost: { trace: 84.2, collect: 31, store: 22.4 },
    labels: { license: 'Louvre' },
    panels: { license: { key: 'louvre.example', from: 'cache' }, security: null },
    ...changes,
  }
}

type Plugin = Configuration['plugins']
const plugin = (name: string, duration: number | null, ...children: Plugin[]): Plugin => ({ name, duration, children })

/** The configuration of the example application. */
export const configuration: Configuration = {
  key: 'c1',
  versions: { node: '20.20.0', fastify: '5.12.8', portico: '0.1.0' },
  environment: 'development',
  settings: { DEFAULT_LOCALE: 'en', LOG_LEVEL: 'info', TRUST_PROXY: false },
  plugins: plugin('root', 182, plugin('database', 96, plugin('entities', 2)), plugin('site', null)),
  routes: [
    {
      method: ['GET', 'HEAD'],
      url: '/museums/:id',
      host: null,
      handler: 'showMuseum',
      plugin: 'museums',
      location: place('routes/museums.ts', 12, 5),
    },
    { method: ['POST'], url: '/versions', host: 'api.example', handler: 'createVersion', plugin: null, location: null },
  ],
}

const posting = { method: ['POST'], url: '/version', host: null, handler: '', plugin: 'versions', location: null }
const nearMiss = (changes: Partial<NearMiss>): NearMiss => ({ ...posting, reason: 'method', distance: 0, ...changes })

/** A path without a route, like `/version` in the specification. */
export function notFoundProfile(changes: Partial<Profile> = {}): Profile {
  const thrower = ownFrame({ function: 'rejectUnmatched', ...place('plugins/not-found.ts', 9, 9) })
  return profile({
    status: 404,
    url: '/version',
    path: '/version',
    duration: 3.4,
    exceptions: [
      exception({
        class: 'NotFoundHttpError',
        message: 'No route found for "GET /version" (from "http://example.org/from")',
        statusCode: 404,
        frames: [thrower, ...foreignFrames()],
      }),
      exception({
        class: 'RouteResourceNotFoundError',
        message: 'No routes found for "/version/"',
        relation: 'cause',
        parent: 0,
        frames: [thrower, ...foreignFrames()],
      }),
    ],
    logs: [
      { level: 30, start: 0.2, message: 'incoming request', fields: { req: { method: 'GET', url: '/version' } } },
      { level: 40, start: 2.9, message: 'No route found for "GET /version"', fields: {} },
    ],
    spans: [
      span({ name: 'rejectUnmatched', plugin: 'not-found', start: 1.6, duration: 0.2, outcome: 'threw' }),
      call('error-handler', 'showError', 1.9, 1, { plugin: 'site', outcome: 'replied' }),
    ],
    lifecycle: [
      point('kernel.request', 0.2, 1.7, { listeners: [0], interrupted: { span: 0, exception: 0 } }),
      point('kernel.controller', null, null),
      point('kernel.response', 3, 0.2),
    ],
    routing: {
      matched: null,
      routes: 14,
      nearMisses: [
        nearMiss({ handler: 'createVersion', location: place('routes/versions.ts', 20, 5) }),
        nearMiss({ method: ['GET'], url: '/version/', handler: 'showVersion', reason: 'slash', distance: 1 }),
        nearMiss({
          method: ['GET', 'HEAD'],
          url: '/versions',
          host: 'api.example',
          handler: 'listVersions',
          location: place('routes/versions.ts', 12, 5),
          reason: 'similar',
          distance: 1,
        }),
      ],
    },
    ...changes,
  })
}

/** A handler that failed with a cause and an AggregateError with three members. */
export function failedProfile(changes: Partial<Profile> = {}): Profile {
  const member = (name: string, line: number): Exception =>
    exception({
      class: 'ConnectionError',
      message: `connect ECONNREFUSED ${name}:5432`,
      code: 'ECONNREFUSED',
      relation: 'member',
      parent: 1,
      properties: { errno: -111, syscall: 'connect', address: name, port: 5432 },
      frames: [ownFrame({ function: 'connect', ...place('src/database/connect.ts', line, 11) }), ...foreignFrames()],
    })
  return profile({
    status: 500,
    duration: 48.2,
    url: '/museums/7',
    exceptions: [
      exception({ properties: { museum: 7, query: 'select * from museums where id = $1' } }),
      exception({
        class: 'AggregateError',
        message: 'All databases are unreachable',
        relation: 'cause',
        parent: 0,
        frames: [...foreignFrames(), ownFrame({ function: 'loadMuseum', ...place('src/entities/museums.ts', 18, 11) })],
      }),
      member('10.0.0.4', 33),
      member('10.0.0.5', 33),
      exception({ class: 'TimeoutError', message: '', relation: 'member', parent: 1, frames: [] }),
    ],
    logs: [
      ...profile().logs,
      {
        level: 50,
        start: 40.1,
        message: 'Museum 7 could not be shown',
        fields: { err: { type: 'MuseumError' } },
      },
    ],
    ...changes,
  })
}

/** What sampling the CPU has shown. */
export function samples(): Samples {
  const location = { file: `${root}/routes/museums.ts`, line: 41, column: 1 }
  const source = 'const museum = await loadMuseum(id)'
  return {
    kind: 'cpu',
    duration: 24,
    interval: 100,
    total: 20,
    hot: [{ function: 'showMuseum', kind: 'own', location, amount: 15, source }],
    charged: [{ function: 'showMuseum', kind: 'own', location, amount: 18 }],
    others: { count: 3, tokens: ['o1'] },
    unstored: null,
  }
}

/** The samples themselves: a function of the application that calls one of a library and one of Node. */
export function cpuProfile(): RawSamples {
  const frame = (functionName: string, url: string) => ({
    callFrame: { functionName, scriptId: '1', url, lineNumber: 40, columnNumber: 2 },
  })
  return {
    nodes: [
      { id: 1, ...frame('(root)', ''), hitCount: 0, children: [2] },
      { id: 2, ...frame('showMuseum', `file://${root}/routes/museums.ts`), hitCount: 15, children: [3, 4] },
      { id: 3, ...frame('preHandlerCallback', `${root}/node_modules/fastify/lib/handle-request.js`), hitCount: 3 },
      { id: 4, ...frame('emit', 'node:events'), hitCount: 2 },
    ],
    startTime: 0,
    endTime: 2000,
    samples: [2, 3, 4],
    timeDeltas: [0, 100, 100],
  }
}

/** The context that a view gets with its data. */
export function context(of: Profile, changes: Partial<ViewContext> = {}): ViewContext {
  return {
    profile: of,
    configuration,
    base: '/_profiler',
    editorUrl: 'vscode://file/{file}:{line}:{column}',
    root,
    ...changes,
  }
}

/** What a page says, without its tags. */
export function textOf(page: unknown): string {
  return String(page)
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** A profile's row in a search. */
export function summary(of: Profile): ProfileSummary {
  const { token, parent, time, duration, status, outcome, method, url, host, ip, labels } = of
  return {
    ...{ token, parent, time, duration, status, outcome, method, url, host, ip, labels },
    route: of.routing.matched?.url ?? null,
    exception: of.exceptions[0]?.class ?? null,
    logErrors: of.logs.filter(line => line.level >= 50).length,
    queries: { count: of.database?.count ?? 0, duration: of.database?.duration ?? 0 },
    statements: [],
    repeated: 0,
    times: [
      ['sql', of.duration * 0.6],
      ['unaccounted', of.duration * 0.4],
    ],
    size: of.response.bodySize,
  }
}

/** An application's panel, as one file would define it. */
export const licensePanel: Panel<{ [key: string]: Json }> = {
  name: 'license',
  label: 'License',
  collect: () => null,
  badge: data => ({ text: String(data.from), tone: 'good' }),
  toolbarItem: data => ({ label: 'License', value: String(data.key), tone: 'neutral' }),
  view: data => [{ title: 'License', pairs: Object.entries(data).map(([name, value]) => [name, { value }]) }],
}

/** An application's panel that collected nothing. */
export const securityPanel: Panel<{ [key: string]: Json }> = { ...licensePanel, name: 'security', label: 'Security' }
