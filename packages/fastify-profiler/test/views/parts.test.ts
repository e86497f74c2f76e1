import t from 'tap'
import { renderSqlBlock } from '../../core/view/code-block.ts'
import { renderExcerpt } from '../../features/exceptions/source-excerpt.ts'
import { escape, html } from '../../core/view/html.ts'
import { locationText, renderLocation, renderValue, valueText } from '../../core/view/elements.ts'
import { renderLogTable, logsMarkdown } from '../../features/logs/logs-panel.ts'
import { blocks, code, codeBlock, plain, table } from '../../core/view/markdown.ts'
import { levelName, levelTone, outcomeText, statusText, statusTone } from '../../core/view/elements.ts'
import { comparePaths, differenceText } from '../../features/routing/routing-panel.ts'
import { curlCommand } from '../../features/request/sent-request.ts'
import { mediaTypeName } from '../../features/home/profile-header.ts'
import {
  count,
  formatAge,
  formatBytes,
  formatDuration,
  formatMilliseconds,
  formatNumber,
  formatShare,
  formatTime,
} from '../../core/view/units.ts'
import type { Json, LogLine, Profile, RequestRecord } from '../../core/profile.ts'
import { profile } from './example-profile.ts'

// The smallest parts of all views, tested in one process: starting one takes longer than the tests.

t.test('text in a template is escaped, and markup stays markup', async t => {
  const stored = JSON.parse('{"text":"<b>","toString":"<b>"}')
  t.same(
    [
      html`<p title="${'"&\''}">${'<b>`'}</p>`,
      html`<ul>${['a', 'b'].map(item => html`<li>${item}</li>`)}</ul>`,
      html`[${null}${undefined}${false}${0}]`,
      html`${stored.text}`,
      escape('a\0b\x7f\x9b\u202ec\n'),
    ].map(String),
    [
      '<p title="&quot;&amp;&#39;">&lt;b&gt;&#96;</p>',
      '<ul><li>a</li><li>b</li></ul>',
      '[0]',
      '&lt;b&gt;',
      'a\u2400b\u2421\\u009b\\u202ec\n',
    ],
  )
})

const second = 1000
const outcomes = ['completed', 'aborted', 'broken', 'hijacked', 'upgraded', 'unfinished'] as const

/** Values and what is shown of them. */
const formats: Record<string, [format: (value: never) => unknown, values: readonly unknown[], shown: unknown[]]> = {
  'durations have three figures and a natural unit, and an unknown one is not zero': [
    formatDuration,
    [0, 0.004, 0.424, 15, 48.26, 1234, 61_500, 119_900, null],
    ['<0.01 ms', '<0.01 ms', '0.42 ms', '15.0 ms', '48.3 ms', '1,230 ms', '1 min 2 s', '2 min 0 s', 'n/a'],
  ],
  'sizes have three figures': [
    formatBytes,
    [null, 312, 7500, 4_200_000, 4_345_000_000],
    ['n/a', '312 B', '7.50 kB', '4.20 MB', '4.34 GB'],
  ],
  'numbers have three significant digits, and at most two decimals': [
    formatNumber,
    [0, 0.004, 0.06, 0.999, 6.213, 9.996, 77.1, 99.96, 184, 3021],
    ['0.00', '<0.01', '0.06', '1.00', '6.21', '10.0', '77.1', '100', '184', '3,020'],
  ],
  'a column of milliseconds never has a zero, and is empty where nothing ran': [
    formatMilliseconds,
    [0, 6.21, null],
    ['<0.01', '6.21', ''],
  ],
  'shares are whole per cent': [
    ([part, whole]: [number, number]) => formatShare(part, whole),
    [
      [54.2, 100],
      [0.4, 100],
      [2, 1],
      [0, 1],
      [1, 0],
    ],
    ['54%', '<1%', '100%', '', ''],
  ],
  'an age is in the largest unit that is full': [
    (seconds: number) => formatAge(0, seconds * second),
    [0, 40, 150, 7200, 200_000],
    ['just now', '40 s ago', '2 min ago', '2 h ago', '2 d ago'],
  ],
  'times are UTC and sort as text': [
    formatTime,
    [Date.UTC(2026, 10, 21, 1, 11, 7, 482)],
    ['2026-11-21 01:11:07.482 UTC'],
  ],
  'nouns agree with their counts': [
    (number: number) => `${count(number, 'query', 'queries')} in ${count(number, 'line')}`,
    [1, 2, 0],
    ['1 query in 1 line', '2 queries in 2 lines', '0 queries in 0 lines'],
  ],
  'a content type is named in a word': [
    mediaTypeName,
    ['text/html; charset=utf-8', 'application/json', 'image/png', ''],
    ['HTML', 'JSON', 'png', ''],
  ],
  'a status has the tone of its class, and a missing one is a warning': [
    statusTone,
    [null, 101, 204, 301, 404, 503],
    ['warning', 'good', 'good', 'neutral', 'warning', 'error'],
  ],
  'a status is shown with its name, if it has one': [
    statusText,
    [null, 404, 799],
    ['No response', '404 Not Found', '799'],
  ],
  'only unusual outcomes are shown': [
    outcomeText,
    outcomes,
    [
      null,
      'Client went away',
      'Response cut off by the server',
      'Answered outside Fastify',
      'Upgraded to another protocol',
      'Server shut down first',
    ],
  ],
  'levels are named as in pino, and custom ones by the nearest level below': [
    levelName,
    [5, 20, 35, 40, 50, 60],
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
  ],
  'only warnings and errors have a colour': [levelTone, [10, 30, 40, 50], ['neutral', 'neutral', 'warning', 'error']],
  'null, an empty string and a value look different': [
    (value: Json) => String(renderValue(value)),
    [null, '', 'x', 0],
    ['<span class="muted">null</span>', '<span class="muted">empty</span>', '<code>x</code>', '<code>0</code>'],
  ],
  'text is escaped in Markdown': [plain, ['# [a](b) *c* <d>\n| e'], ['\\# \\[a\\](b) \\*c\\* \\<d\\> \\| e']],
  'inline code may contain backticks': [code, ['a', 'a`b', ' '], ['`a`', '`` a`b ``', '(empty)']],
}

for (const [title, [format, values, shown]] of Object.entries(formats)) {
  t.test(title, async t => {
    const found = values.map(value => Reflect.apply(format, undefined, [value]))
    t.same(found, shown)
  })
}

const compared = (asked: string, route: string) =>
  comparePaths(asked, route)
    .map(({ text, change }) => (change === 'same' ? text : `${change === 'missing' ? '+' : '-'}${text}~`))
    .join('')

t.test('what a path lacks of a route is marked in each segment, and said in words', async t => {
  for (const [asked, route, difference, said] of [
    ['/artwork/42/images', '/artworks/:id/images', '/artwork+s~/:id/images', 'Add “s”'],
    ['/artworks/42/image', '/artworks/:id(\\d+)/images', '/artworks/:id(\\d+)/image+s~', 'Add “s”'],
    ['/a/c', '/ab/cd', '/a+b~/c+d~', 'Add “b”, add “d”'],
    ['/file/a/b', '/files/*', '/file+s~/*', 'Add “s”'],
    ['/a.json', '/:name.:type', '/:name.:type', ''],
    ['//x', '/x', '-/~/x', 'Drop “/”'],
    ['/aa/bb/cc/dd', '/a/b/c/d', '/a-a~/b-b~/c-c~/d-d~', 'Similar path'],
    ['/\ud83d\ude00', '/', '/-\ud83d\ude00~', 'Drop “\ud83d\ude00”'],
  ] as const) {
    t.equal(compared(asked, route), difference)
    t.equal(differenceText(comparePaths(asked, route)), said)
  }
})

const form = 'application/x-www-form-urlencoded'
const get = { method: 'GET', url: '/a', host: 'a' }
const curl = (sent: Partial<RequestRecord>, changes: Partial<Profile> = {}) =>
  curlCommand(profile({ method: 'POST', ...changes, request: { ...profile().request, headers: [], ...sent } }))

t.test('a request can be repeated with curl, with its method, headers and body', async t => {
  const pseudo = { ':method': 'GET', ':authority': 'a.example:1' }
  const headers = Object.entries({ ...pseudo, accept: '*/*', 'content-length': '3', 'x-empty': '' })
  for (const [command, shown] of [
    [curl({ headers }, get), "curl 'http://a.example:1/a' \\\n  -H 'accept: */*' \\\n  -H 'x-empty;'"],
    [curl({ headers: [['Host', 'b:1']] }, get), "curl 'http://b:1/a'"],
    [curl({}, { host: null }), "curl 'http://localhost/museums/7"],
    [curl({}, { method: 'HEAD' }), / \\\n {2}--head$/],
    [curl({}, { method: 'DELETE' }), "-X 'DELETE'"],
    [curl({ body: 'text' }, get), "-X 'GET'"],
    [curl({ body: { a: "it's" }, contentType: 'application/json' }), `-X 'POST' \\\n  --data-raw '{"a":"it'\\''s"}'`],
    [curl({ body: { a: 'b c' }, contentType: form }), "--data-raw 'a=b+c'"],
    [curl({ body: { tag: ['a', 'b'], odd: { a: 1 } }, contentType: form }), 'tag=a&tag=b&odd=%7B%22'],
    [curl({ body: 7, contentType: form }), "--data-raw '7'"],
    [curl({ body: 'plain', contentType: null }), "--data-raw 'plain'"],
    [curl({ body: '[312 bytes]', bodySize: 11 }), "--data-raw '[312 bytes]'"],
  ] as const) {
    t.match(command, shown)
  }
  t.notMatch(curl({ body: '[312 bytes]', bodySize: 312 }), '--data-raw', 'a binary body is not stored')
  t.notMatch(curl({ body: { file: '…' }, contentType: 'multipart/form-data; boundary=x' }), '--data-raw')
})

t.test('curl is kept from changing the URL', async t => {
  for (const [url, command] of [
    ['/a[]?b={c}', "--globoff 'http://a/a[]?b={c}'"],
    ['/../a', "--path-as-is 'http://a/../a'"],
    ['/a/.?b', "--path-as-is 'http://a/a/.?b'"],
    ['/.well-known/a..b', "'http://a/.well-known/a..b'"],
    ['http://other/a', "'http://a/a'"],
    ['*', "'http://a/*'"],
  ] as const) {
    t.equal(curl({}, { ...get, url }), `curl ${command}`)
  }
})

t.test('a long object is indented in a block, with the line breaks of its strings', async t => {
  const text = String(renderValue({ stack: 'Error: no\n    at here', path: 'C:\\new', more: 'x'.repeat(200) }))
  t.match(text, 'Error: no\n    at here')
  t.match(text, 'C:\\\\new')
})

t.test('an oversized value is truncated, with the length left out', async t => {
  t.match(valueText('x'.repeat(20_003)), /x… \(3 more characters\)$/)
  t.match(String(renderSqlBlock('x'.repeat(20_001))), 'x…')
})

const place = { root: '/srv/app', editorUrl: 'editor://open?file={file}&line={line}&column={column}' }

t.test('a file is shown relative to the folder of the application, or with its whole path', async t => {
  t.equal(locationText({ file: '/srv/app/routes/a.ts', line: 3, column: 5 }, place.root), 'routes/a.ts:3:5')
  t.equal(locationText({ file: '/srv/apple/a.ts', line: 3, column: 5 }, place.root), '/srv/apple/a.ts:3:5')
  t.match(String(renderLocation(null, place)), 'unknown')
})

t.test('a location opens in the configured editor, if there is one, unless it is in Node itself', async t => {
  const location = { file: '/srv/app/a b.ts', line: 3, column: 5 }
  const page = String(renderLocation(location, place))
  t.match(page, 'href="editor://open?file=/srv/app/a%20b.ts&amp;line=3&amp;column=5"')
  t.notMatch(String(renderLocation(location, { ...place, editorUrl: null })), 'href')
  t.notMatch(String(renderLocation({ ...location, file: 'node:internal/timers' }, place)), 'href')
})

t.test('text cannot break out of a code block or a table cell, and missing blocks leave no gap', async t => {
  t.equal(codeBlock('a\r\n```\nb', 'ts'), '````ts\na\n```\nb\n````')
  t.equal(table(['a'], [['x | y'], ['x \\| y']]), '| a |\n| --- |\n| x \\| y |\n| x \\| y |')
  t.equal(blocks('a', null, '', 'b'), 'a\n\nb')
})

function lines(text: string[], first = 1, line = 1): string {
  return String(renderExcerpt({ first, line, lines: text }))
}

t.test('every line is numbered, the relevant one is marked, and an overlong one is truncated', async t => {
  const text = lines(['a', 'b', 'c'], 40, 41)
  for (const [tag, number, letter] of ['span 40 a', 'mark 41 b', 'span 42 c'].map(line => line.split(' '))) {
    t.match(text, `<${tag} class="line${tag === 'mark' ? ' error' : ''}" data-line="${number}">${letter}`)
  }
  t.match(lines(['x'.repeat(401)]), `${'x'.repeat(400)}…`)
})

t.test('keywords, strings and comments are highlighted, also where the excerpt starts inside a comment', async t => {
  const text = lines([' * it is', ' */', "const a = 'const' // return"])
  t.match(text, /<span class="comment"> \* it is<.*<span class="comment"> \*\/<.*<span class="keyword">const</s)
  t.match(text, /<span class="string">&#39;const&#39;<\/span> <span class="comment">\/\/ return</)
})

t.test('SQL keywords, strings and placeholders are highlighted, but not quoted names', async t => {
  const text = String(renderSqlBlock("select \"from\" from t -- x\nwhere a = $1 and b = '''' /* y */"))
  t.match(
    text,
    '<span class="keyword">select</span> &quot;from&quot; <span class="keyword">from</span> t <span class="comment">-- x</span>\n<span class="keyword">where</span>',
  )
  t.match(text, '<span class="string">$1</span>')
  t.match(text, '<span class="comment">/* y */</span>')
})

const line = (changes: Partial<LogLine> = {}): LogLine => ({
  level: 30,
  start: 1,
  message: 'said',
  fields: {},
  ...changes,
})
const logs = (...lines: LogLine[]) => String(renderLogTable({ logs: lines, requestId: 'req-1' }, place))

const own = (message: string, field: string) => line({ message, fields: { [field]: {} } })

/** Lines of a log, with what is shown of them, and what is not. */
const logTables: Record<string, [table: string, shown: RegExp, notShown?: RegExp]> = {
  'every line is shown with time, level, message and fields, and each level with its count': [
    String(renderLogTable(profile(), place)),
    /class="level-info"> info <span class="count">2<.*12\.8.*badge warning">warn<.*museum has no picture <code class="muted">museum=7<.*<dt>museum<\/dt>/s,
    /class="level-fatal"> fatal/,
  ],
  'the lines of the application come before those that Fastify logs about every request': [
    String(renderLogTable(profile(), place)),
    /license found.*museum has no picture.*Fastify’s own line: incoming request<.*incoming request/s,
  ],
  'a request about which only Fastify logged says so': [
    logs(own('incoming request', 'req'), own('request completed', 'res')),
    /logged nothing itself.*Fastify’s own lines: incoming request, request completed/s,
  ],
  'a message like one of Fastify is the application’s without its field': [
    logs(line({ message: 'incoming request' })),
    /incoming request/,
    /Fastify’s own|<details|fieldset|log-filter/,
  ],
  'the id of the request is shown once': [
    logs(line({ fields: { reqId: 'req-1' } }), line({ fields: { reqId: 'other' } })),
    /req-1.*reqId=other/s,
    /req-1.*req-1/s,
  ],
  'debug lines in a row fold into one that counts them, and so do equal messages': [
    logs(
      line({ level: 20, message: 'a' }),
      line({ level: 20, message: 'b', start: 1.2 }),
      line({ message: 'miss' }),
      line({ message: 'miss' }),
      line(),
    ),
    />2 debug, 0\.20 ms<.*<b>2 ×<\/b> miss<.*>said</s,
  ],
  'a request that logged nothing says so': [logs(), /No log line was recorded/],
}

for (const [title, [table, shown, notShown]] of Object.entries(logTables)) {
  t.test(title, async t => {
    t.match(table, shown)
    if (notShown !== undefined) t.notMatch(table, notShown)
  })
}

t.test('a warning is shown with the line that logged it', async t => {
  const location = { file: '/srv/app/routes/<cart>.js', line: 12, column: 3 }
  const text = logs(line({ level: 40, location }))
  t.match(text, /<summary.*<code class="muted only-wide">routes\/&lt;cart&gt;\.js:12<\/code><\/summary>/)
  t.match(
    text,
    /From<\/span> <a class="place" href="editor:\/\/open\?file=\/srv\/app\/routes\/%3Ccart%3E\.js&amp;line=12/,
  )
  t.match(logsMarkdown([line({ level: 40, location })], place.root), '`routes/<cart>.js:12:3` |')
})

t.test('the first error leads to its line, which is open, and a filter stands in the URL', async t => {
  const lines = [line(), line({ level: 40, message: 'low' }), line({ level: 50, message: 'bad', fields: { a: 1 } })]
  const of = (query: string) =>
    String(renderLogTable({ logs: lines, requestId: null }, place, new URLSearchParams(query)))
  t.match(of(''), /First error: <a href="#first-problem">bad<\/a>, at 1\.00 ms.* id="first-problem"><details open>/s)
  t.match(of('filter=LOW'), /value="LOW".*>low</s)
  t.notMatch(of('filter=LOW'), />said<|>bad</)
  t.match(of('filter=none'), 'None of 3 lines contains &quot;none&quot;.')
})

t.test('a field is truncated sooner than a value', async t => {
  const flood = [{ level: 50, start: 0, message: 'failed', fields: { err: 'x'.repeat(4003) } }]
  t.match(logs(...flood), /x… \(3 more characters\)/)
  t.match(logsMarkdown(flood, '/app'), /x… \(\d+ more characters\)/)
  t.match(logsMarkdown([line({ message: 'a | b' })], '/app'), '| info | 1.00 ms | a \\| b |  |  |')
})
