import { Random } from './random.ts'

/** What a client does on one connection. */
export interface HostileExchange {
  shape: string
  /** What it writes, one byte per character. A turn of the event loop passes between two pieces. */
  pieces: string[]
  /** How many whole responses it waits for unless the server closes first. 0 for none. */
  answers: number
  /** What it does then: closes, closes its half and waits for the server to close, or resets the connection. */
  end: 'leave' | 'half-close' | 'reset'
}

/** The words of a text. */
function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/)
}

const methods = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'] as const
const paths = wordsOf(`
  / /version /login /logout /language /health /ready /favicon.ico /_profiler/ /_profiler/latest
  /api/museums /api/licenses/1 /api/openapi.json /api/docs /api/docs/static/swagger-ui.css`)
const hosts = [
  ...wordsOf('localhost localhost 127.0.0.1 protected.localhost nobody.example LOCALHOST:80 a..b [::1] - xn-- \xff'),
  'a b',
]
const types = wordsOf(`
  text/html */* application/json text/plain text/markdown text/html;q=0,*/*;q=1 ;;; a/b;q=2`)
const oddTargets = wordsOf(String.raw`
  * // /../../etc/passwd /%zz /%00 /% /%ff%fe /a//b /. ? # /? /#a /\ /<script> /;a=b /?__proto__=1&a[]=2&%zz /?_locale=%zz
  http://localhost/ http://other.example/version https:// localhost:80 /api/museums?limit=1e9 /api/museums?cursor=x
  /login?next=//evil.example /_profiler/..%2f /%5fprofiler/latest`)
const oddHeaders = [
  ...['Cookie: portico_session=x', 'Cookie: portico_session="; portico_session=', 'Cookie: locale=%zz; =; ;;'],
  ...['Accept-Language: *;q=x,,de-,x-y', 'Accept-Language: de;q=1.0000001', 'Referer: <script>'],
  ...['Forwarded: for=;host="', 'X-Forwarded-For: 1.2.3.4, , unknown', 'X-Forwarded-Host: a, b'],
  ...['X-Forwarded-Proto: gopher', 'X-HTTP-Method-Override: 1', 'Origin: null', 'Sec-Fetch-Site: cross-site'],
  ...['If-None-Match: *', 'If-None-Match: "', 'If-Match: W/', 'If-Modified-Since: never', 'Range: bytes=-'],
  ...['Range: bytes=9-1,0-', 'Accept-Encoding: br;q=', 'Accept-Version: 1'],
  'Upgrade: websocket\r\nConnection: Upgrade',
  ...['Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x', 'Connection: close, keep-alive'],
  ...['Connection: \x7f', 'Keep-Alive: max=0', 'TE: trailers', 'Expect: 100-continue', 'Expect: miracles'],
  ...['Max-Forwards: -1', 'Content-Type: application/json', 'Content-Type: ;', 'Content-Encoding: gzip'],
  ...['__proto__: 1', 'constructor: 1', 'Authorization: Basic !'],
] as const
const bodies = [
  ...['', '{', '{}', '[]', 'null', '{"email":"a@b.example","password":"x"}', '{"email":{"$ne":1},"password":["x"]}'],
  ...['{"__proto__":{"a":1}}', 'email=a%40b.example&password=x', 'email=%zz&a[b][c]=1&&&='],
  ...['language=de&next=//evil.example', '\x00\xff\xfe'],
  '['.repeat(5000),
] as const
const contentTypes = [
  ...wordsOf('application/json application/x-www-form-urlencoded application/merge-patch+json text/plain nonsense'),
  ...['multipart/form-data; boundary=x', 'application/json; charset=utf-7', ''],
]
/** Framing headers that two parsers may interpret differently. */
const framings = [
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5\r\nContent-Length: 5',
  ...['5, 5', '+5', '-5', '0x5', '5 5', '99999999999999999999', '', '5\x0b'].map(length => `Content-Length: ${length}`),
  ...['Content-Length : 5', 'Content-Length:\t5', 'Transfer-Encoding:\tchunked', 'Transfer-Encoding : chunked'],
  ...[
    'xchunked',
    'chunked, identity',
    'identity, chunked',
    '"chunked"',
    'chunked\n',
    'chunked\r\nTransfer-Encoding: identity',
  ].map(coding => `Transfer-Encoding: ${coding}`),
  ' Transfer-Encoding: chunked',
  ...['\r\n ', '\r', '\n'].map(end => `X: y${end}Transfer-Encoding: chunked`),
  'Transfer-Encoding\x00: chunked',
]
const chunkedBodies = [
  ...['5\r\nhello\r\n0\r\n\r\n', '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n', '5\nhello\n0\n\n'],
  ...['ffffffffffffffff\r\nx', '5;a=b\r\nhello\r\n0\r\nTrailer: x\r\n\r\n', '-1\r\n', '5\r\nhelloX'],
  ...['0x5\r\nhello\r\n0\r\n\r\n', `5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`],
  ...['0\r\nContent-Length: 5\r\nHost: other\r\n\r\n', 'hello'],
] as const

const ordinary = (random: Random) => whole([request(random)])

const shapes: Record<string, (random: Random) => Omit<HostileExchange, 'shape'>> = {
  ordinary,
  'odd target': random => whole([request(random, { target: random.among(oddTargets) })]),
  'odd headers': random =>
    broken([request(random, { headers: Array.from({ length: 1 + random.below(4) }, () => random.among(oddHeaders)) })]),
  'odd body': random => {
    const body = random.among(bodies)
    const headers = [`Content-Type: ${random.among(contentTypes)}`, `Content-Length: ${body.length}`]
    return broken([
      request(random, { method: random.among(['POST', 'PUT', 'PATCH', 'DELETE', 'GET']), headers }) + body,
    ])
  },
  pipelined: random => {
    const length = 2 + random.below(15)
    return whole(
      [Array.from({ length }, () => request(random, { method: random.among(['GET', 'DELETE', 'OPTIONS']) })).join('')],
      length,
    )
  },
  // The connection is never idle: each piece ends one request and begins the next.
  'always begun': random => {
    const length = 2 + random.below(15)
    const requests = Array.from({ length }, () =>
      request(random, {
        method: random.among(['POST', 'PUT', 'PATCH']),
        headers: ['Content-Type: text/plain', 'Content-Length: 2'],
      }),
    )
    return whole([...requests.map((text, number) => `${number === 0 ? '' : 'b'}${text}a`), 'b'], length)
  },
  smuggled: random =>
    broken([request(random, { method: 'POST', headers: [random.among(framings)] }) + random.among(chunkedBodies)]),
  'chunked badly': random =>
    broken([request(random, { method: 'POST', headers: ['Transfer-Encoding: chunked'] }), random.among(chunkedBodies)]),
  'header bomb': random => {
    const headers = random.chance(0.5)
      ? Array.from({ length: random.below(4000) }, () =>
          random.among(['a: b', 'Cookie: a=b', 'Accept: */*', 'Host: x', 'X: y']),
        )
      : [
          `${random.among(['X', 'Cookie', 'Accept', 'Accept-Language', 'Referer', 'If-None-Match', 'Authorization'])}: ${random.among(['a', ',', '"', ';', 'a=b;', 'de,', '*/*,']).repeat(random.below(8000))}`,
        ]
    return broken([request(random, { headers })])
  },
  'huge URL': random =>
    broken([
      request(random, {
        target: `/${random.among(['a', '/', '%', '%41', '.', '?a=b&', '../', ';', '%2f', '\xff']).repeat(random.below(6000))}`,
      }),
    ]),
  'bare LF': random => broken([request(random).replace(/\r\n/g, () => random.among(['\n', '\r\n', '\r', '\r\r\n']))]),
  'no HTTP': random =>
    broken([
      random.among([
        ...['\r\n\r\n', '\x00', 'GET\r\n\r\n', 'GET /\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'GET / HTTP/1.0\r\n\r\n'],
        ...['GET  /  HTTP/1.1\r\nHost: localhost\r\n\r\n', 'get / HTTP/1.1\r\n\r\n'],
        ...[`${'A'.repeat(5000)} / HTTP/1.1\r\n\r\n`, 'GET / HTTP/1.1\r\nno colon\r\n\r\n'],
        ...['GET / HTTP/1.1\r\n: empty\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
        'GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n',
        'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
        ...['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'SSH-2.0-x\r\n'],
        'HTTP/1.1 200 OK\r\n\r\n',
        random.bytes(1 + random.below(2000)),
      ]),
    ]),
  mutated: random => broken([mutate(request(random), random)]),
  'in pieces': random => whole(cut(request(random), random)),
  'given up': random => {
    const text = request(random, { method: 'POST', headers: ['Content-Length: 1000'] }) + 'x'.repeat(random.below(1000))
    return {
      pieces: cut(text.slice(0, 1 + random.below(text.length)), random),
      answers: 0,
      end: random.among(['leave', 'half-close', 'reset']),
    }
  },
  'answer not read': random => ({
    pieces: [request(random, { method: 'GET' }).repeat(1 + random.below(20))],
    answers: 0,
    end: random.among(['leave', 'half-close', 'reset']),
  }),
}
const names = Object.keys(shapes)

/** What a hostile client does. The same seed gives the same exchange. */
export function hostileExchange(seed: number): HostileExchange {
  const random = new Random(seed)
  const shape = names[random.below(names.length)] ?? ''
  return { shape, ...(shapes[shape] ?? ordinary)(random) }
}

/** Whole requests, each of which gets a response. */
function whole(pieces: string[], answers = 1): Omit<HostileExchange, 'shape'> {
  return { pieces, answers, end: 'leave' }
}

/** Possibly malformed requests: answered or cut off, at the latest when the client has sent everything. */
function broken(pieces: string[]): Omit<HostileExchange, 'shape'> {
  return { pieces, answers: 0, end: 'half-close' }
}

interface Parts {
  method?: string
  target?: string
  headers?: readonly string[]
}

function request(
  random: Random,
  { method = random.among(methods), target = targetOf(random), headers = [] }: Parts = {},
): string {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${random.among(hosts)}`,
    ...(random.chance(0.7) ? [`Accept: ${random.among(types)}`] : []),
    ...headers,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

function targetOf(random: Random): string {
  const path = random.chance(0.8) ? random.among(paths) : `/${random.word()}/${random.word()}`
  return random.chance(0.3) ? `${path}?${random.word()}=${random.word()}` : path
}

/** Changes, inserts or removes a few bytes. */
function mutate(text: string, random: Random): string {
  let mutated = text
  for (let count = 1 + random.below(4); count > 0; count--) {
    const at = random.below(mutated.length)
    mutated =
      mutated.slice(0, at) +
      random.among([
        '',
        random.bytes(1),
        '\r\n',
        '\x00',
        ' ',
        ':',
        mutated.slice(at, at + random.below(50)).repeat(2),
      ]) +
      mutated.slice(at + random.below(3))
  }
  return mutated
}

function cut(text: string, random: Random): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    const end = at + 1 + random.below(random.chance(0.5) ? 5 : 200)
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}
