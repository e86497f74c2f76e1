import t from 'tap'
import { renderCodeBlock, renderExcerpt, renderSqlBlock } from '../../show/parts/code-block.ts'
import { escape, html } from '../../base/html.ts'
import { renderKeyValueTable } from '../../show/parts/key-value-table.ts'
import { locationText, renderLocation } from '../../show/parts/location.ts'
import { renderLogTable } from '../../show/parts/log-table.ts'
import { logsMarkdown } from '../../show/markdown/logs-markdown.ts'
import { blocks, code, codeBlock, plain, table } from '../../show/markdown/markdown.ts'
import { levelName, levelNames, levelTone, outcomeText, statusText, statusTone } from '../../show/parts/tone.ts'
import { count, formatBytes, formatDuration, formatTime } from '../../show/parts/units.ts'
import { renderValue, valueText } from '../../show/parts/value.ts'
import { profile } from './example-profile.ts'

// The smallest parts of all views, tested in one process: starting one takes longer than the tests.

t.test('text in a template is escaped', async t => {
  t.equal(String(html`<p title="${'"&\''}">${'<b>`'}</p>`), '<p title="&quot;&amp;&#39;">&lt;b&gt;&#96;</p>')
})

t.test('markup in a template stays markup, and lists are joined', async t => {
  t.equal(String(html`<ul>${['a', 'b'].map(item => html`<li>${item}</li>`)}</ul>`), '<ul><li>a</li><li>b</li></ul>')
})

t.test('null, undefined and false print nothing, and zero prints itself', async t => {
  t.equal(String(html`[${null}${undefined}${false}${0}]`), '[0]')
})

t.test('stored data that looks like markup is escaped', async t => {
  const stored = JSON.parse('{"text":"<b>","toString":"<b>"}')
  t.equal(String(html`${stored.text}`), '&lt;b&gt;')
})

t.test('control characters are shown as pictures, and bidirectional ones by their code point', async t => {
  t.equal(escape('a\0b\x7f\u202ec\n'), 'a\u2400b\u2421\\u202ec\n')
})

t.test('durations have three figures and a natural unit', async t => {
  t.same([0, 0.004, 0.424, 15, 48.26, 1234, 61_500].map(formatDuration), [
    '0 ms',
    '< 0.01 ms',
    '0.42 ms',
    '15 ms',
    '48.3 ms',
    '1.23 s',
    '1 min 2 s',
  ])
})

t.test('an unknown duration is not zero', async t => {
  t.same([null, undefined, NaN].map(formatDuration), ['n/a', 'n/a', 'n/a'])
})

t.test('a minute that is rounded up is shown as a full one', async t => {
  t.equal(formatDuration(119_900), '2 min 0 s')
})

t.test('sizes have three figures', async t => {
  t.same([null, 312, 7500, 4_200_000, 4_345_000_000].map(formatBytes), ['n/a', '312 B', '7.5 kB', '4.2 MB', '4.35 GB'])
})

t.test('times are UTC and sort as text', async t => {
  t.equal(formatTime(Date.UTC(2026, 10, 21, 1, 11, 7, 482)), '2026-11-21 01:11:07.482 UTC')
})

t.test('an invalid time does not throw', async t => {
  t.equal(formatTime(NaN), 'n/a')
})

t.test('nouns agree with their counts', async t => {
  t.same(
    [count(1, 'query', 'queries'), count(2, 'query', 'queries'), count(0, 'line')],
    ['1 query', '2 queries', '0 lines'],
  )
})

t.test('a status has the tone of its class, and a missing one is a warning', async t => {
  t.same([null, 101, 204, 301, 404, 503].map(statusTone), ['warning', 'good', 'good', 'neutral', 'warning', 'error'])
})

t.test('a status is shown with its name, if it has one', async t => {
  t.same([null, 404, 799].map(statusText), ['No response', '404 Not Found', '799'])
})

t.test('only unusual outcomes are shown', async t => {
  t.same((['completed', 'aborted', 'broken', 'hijacked', 'upgraded', 'unfinished'] as const).map(outcomeText), [
    null,
    'Client went away',
    'Response cut off by the server',
    'Answered outside Fastify',
    'Upgraded to another protocol',
    'Server shut down first',
  ])
})

t.test('levels are named as in pino, and custom ones by the nearest level below', async t => {
  t.same([5, 20, 35, 40, 50, 60].map(levelName), ['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
  t.equal(levelNames.length, 6)
})

t.test('only warnings and errors have a colour', async t => {
  t.same([10, 30, 40, 50].map(levelTone), ['neutral', 'neutral', 'warning', 'error'])
})

t.test('null, an empty string and a value look different', async t => {
  t.same(
    [null, undefined, '', 'x', 0].map(value => String(renderValue(value))),
    [
      '<span class="muted">null</span>',
      '<span class="muted">undefined</span>',
      '<span class="muted">empty</span>',
      '<code>x</code>',
      '<code>0</code>',
    ],
  )
})

t.test('a long object is indented in a block, with the line breaks of its strings', async t => {
  const text = String(renderValue({ stack: 'Error: no\n    at here', path: 'C:\\new', more: 'x'.repeat(200) }))
  t.match(text, 'Error: no\n    at here')
  t.match(text, 'C:\\\\new')
})

t.test('a value that JSON cannot represent is still shown', async t => {
  t.equal(valueText(undefined), 'undefined')
})

t.test('an oversized value is truncated, with the length left out', async t => {
  t.match(valueText('x'.repeat(20_003)), /x… \(3 more characters\)$/)
})

t.test('a table of pairs shows markup as it is and other values as values', async t => {
  t.match(
    String(
      renderKeyValueTable('Facts', [
        ['a', html`<b>1</b>`],
        ['b', '<b>'],
      ]),
    ),
    /<dd><b>1<\/b><\/dd>.*<dd><code>&lt;b&gt;/s,
  )
})

t.test('an empty table says so', async t => {
  t.equal(String(renderKeyValueTable('Facts', [], 'No facts.')), '<p class="empty">No facts.</p>')
})

const place = { root: '/srv/app', editorUrl: 'editor://open?file={file}&line={line}&column={column}' }

t.test('a file inside the application is shown relative to its folder', async t => {
  t.equal(locationText({ file: '/srv/app/routes/a.ts', line: 3, column: 5 }, place.root), 'routes/a.ts:3:5')
})

t.test('a file outside the application keeps its path', async t => {
  t.equal(locationText({ file: '/srv/apple/a.ts', line: 3, column: 5 }, place.root), '/srv/apple/a.ts:3:5')
})

t.test('a location opens in the configured editor', async t => {
  t.match(
    String(renderLocation({ file: '/srv/app/a b.ts', line: 3, column: 5 }, place)),
    'href="editor://open?file=/srv/app/a%20b.ts&amp;line=3&amp;column=5"',
  )
})

t.test('without an editor there is no link', async t => {
  t.notMatch(
    String(renderLocation({ file: '/srv/app/a.ts', line: 3, column: 5 }, { ...place, editorUrl: null })),
    'href',
  )
})

t.test('a location in Node itself has no link', async t => {
  t.notMatch(String(renderLocation({ file: 'node:internal/timers', line: 3, column: 5 }, place)), 'href')
})

t.test('a missing location is shown as unknown', async t => {
  t.match(String(renderLocation(null, place)), 'unknown')
})

t.test('text is escaped in Markdown', async t => {
  t.equal(plain('# [a](b) *c* <d>\n| e'), '\\# \\[a\\](b) \\*c\\* \\<d\\> \\| e')
})

t.test('inline code may contain backticks', async t => {
  t.same([code('a'), code('a`b'), code(' ')], ['`a`', '`` a`b ``', '(empty)'])
})

t.test('text cannot break out of a code block', async t => {
  t.equal(codeBlock('a\r\n```\nb', 'ts'), '````ts\na\n```\nb\n````')
})

t.test('text cannot create a new table cell', async t => {
  t.equal(table(['a'], [['x | y'], ['x \\| y']]), '| a |\n| --- |\n| x \\| y |\n| x \\| y |')
})

t.test('missing blocks leave no gap', async t => {
  t.equal(blocks('a', null, '', 'b'), 'a\n\nb')
})

function lines(text: string[], first = 1, line = 1): string {
  return String(renderExcerpt({ first, line, lines: text }))
}

t.test('every line is numbered, and the relevant one is marked', async t => {
  const text = lines(['a', 'b', 'c'], 40, 41)
  t.match(text, '<span class="line" data-line="40">a')
  t.match(text, '<mark class="line" data-line="41">b')
  t.match(text, '<span class="line" data-line="42">c')
})

t.test('keywords, strings and comments are highlighted', async t => {
  t.match(
    lines(["const a = 'const' // return"]),
    '<span class="keyword">const</span> a = <span class="string">&#39;const&#39;</span> <span class="comment">// return</span>',
  )
})

t.test('a comment over two lines is highlighted on both', async t => {
  t.match(
    lines(['/* one', 'two */ let']),
    /<span class="comment">\/\* one<\/span>\n<\/mark>.*<span class="comment">two \*\/<\/span> <span class="keyword">let/s,
  )
})

t.test('lines that start inside a comment are highlighted as comments', async t => {
  t.match(
    lines([' * it is', ' */', 'return it']),
    /<span class="comment"> \* it is<\/span>.*<span class="comment"> \*\/<\/span>\n<\/span>.*<span class="keyword">return<\/span> it/s,
  )
})

t.test('an overlong line is truncated', async t => {
  t.match(lines(['x'.repeat(401)]), `${'x'.repeat(400)}…`)
})

t.test('code that contains markup is escaped', async t => {
  t.match(lines(['<script>']), '&lt;script&gt;')
  t.match(String(renderCodeBlock('<script>')), '&lt;script&gt;')
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

t.test('only a statement that may need scrolling can be focused', async t => {
  for (const short of ['select 1', 'x'.repeat(1000), 'x\n'.repeat(19)]) {
    t.match(String(renderSqlBlock(short)), '<pre class="sql"><code>')
  }
  for (const long of ['x'.repeat(1001), 'x\n'.repeat(20)]) {
    t.match(String(renderSqlBlock(long)), '<pre class="sql" tabindex="0"><code>')
  }
})

t.test('an overlong statement is truncated', async t => {
  t.match(String(renderSqlBlock('x'.repeat(20_001))), 'x…')
})

t.test('every line is shown with level, time, message and fields', async t => {
  const text = String(renderLogTable(profile().logs))
  t.equal(text.match(/<li class="level-/g)?.length, 4)
  t.match(text, /badge warning">warn<.*12\.8 ms.*museum has no picture.*<dt>museum<\/dt>/s)
})

t.test('each level present can be hidden, and shows its count', async t => {
  const text = String(renderLogTable(profile().logs))
  t.match(text, /class="level-info"> info <span class="count">2</)
  t.notMatch(text, 'class="level-fatal"> fatal')
})

t.test('lines of a single level have no filter', async t => {
  t.notMatch(String(renderLogTable([{ level: 30, start: 0, message: '', fields: {} }])), 'fieldset')
})

t.test('a request that logged nothing says so', async t => {
  t.match(String(renderLogTable([])), 'Nothing was logged')
})

t.test('a field is truncated sooner than a value', async t => {
  const flood = [{ level: 50, start: 0, message: 'failed', fields: { err: 'x'.repeat(4003) } }]
  t.match(String(renderLogTable(flood)), /x… \(3 more characters\)/)
  t.match(logsMarkdown(flood), /x… \(\d+ more characters\)/)
})

t.test('the Markdown has a row per line', async t => {
  t.equal(
    logsMarkdown([...profile().logs, { level: 30, start: 1, message: 'a | b', fields: {} }])
      .split('\n')
      .at(-1),
    '| info | 1 ms | a \\| b |  |',
  )
})
