import t from 'tap'
import type { Markup } from '../../core/view/html.ts'
import type { Exception, Frame } from '../../core/profile.ts'
import { rootCauseOf, renderExceptionTree, renderExceptions } from '../../features/exceptions/exceptions.ts'
import { exceptionsMarkdown, stackTracesMarkdown } from '../../features/exceptions/exceptions-markdown.ts'
import { stackTraceText } from '../../features/exceptions/exceptions.ts'
import { renderErrorMarkdown } from '../../features/exceptions/exceptions-markdown.ts'
import { renderErrorPage } from '../../features/exceptions/error-page.ts'
import { readSources } from '../../features/exceptions/source-excerpt.ts'
import {
  context,
  exampleQuery,
  exampleUse,
  exception,
  failedProfile,
  foreignFrames,
  notFoundProfile,
  ownFrame,
  profile,
} from './example-profile.ts'

const place = { root: '/srv/museum', editorUrl: null }

function text(markup: Markup): string {
  return String(markup)
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

const render = (...exceptions: Exception[]) => String(renderExceptions(profile({ exceptions }), place, 3))
const part = (page: string, id: number) => page.split(`id="exception-${id}"`)[1]?.split('</article>')[0] ?? ''

t.test('the chain is a numbered tree with the message, the place and the root cause of each', async t => {
  t.equal(
    text(renderExceptionTree(failedProfile().exceptions, place)),
    '1 Thrown: MuseumError Museum 7 could not be shown Outermost routes/ museums.ts:41 ' +
      '2 Cause of MuseumError: AggregateError All databases are unreachable src/entities/ museums.ts:18 ' +
      '3 Member of AggregateError: ConnectionError connect ECONNREFUSED 10.0.0.4:5432 Root cause src/database/ connect.ts:33 ' +
      '4 Member of AggregateError: ConnectionError connect ECONNREFUSED 10.0.0.5:5432 same place as 3 ' +
      '5 Member of AggregateError: TimeoutError no stack trace',
  )
})

t.test('the root cause is at the bottom of the causes, and members only count without a cause', async t => {
  const beneath = (relation: 'cause' | 'member', parent: number) => exception({ relation, parent })
  t.equal(rootCauseOf([exception()]), 0)
  t.equal(rootCauseOf([exception(), beneath('cause', 0), beneath('cause', 1)]), 2)
  t.equal(rootCauseOf([exception(), beneath('member', 0), beneath('member', 0)]), 1)
  t.equal(rootCauseOf([exception(), beneath('member', 0), beneath('cause', 0)]), 2)
  t.equal(rootCauseOf([]), 0)
})

t.test('the root cause and the outermost exception are open, and the others are folded', async t => {
  const page = String(renderExceptions(failedProfile(), place, 3))
  t.equal(page.match(/<article/g)?.length, 5)
  t.match(page, /<\/ol>\s*<article class="exception" id="exception-3".*<article class="exception" id="exception-1"/s)
  t.equal(page.match(/fold"><summary><b>/g)?.length, 3)
  t.match(page, /<summary><b>4<\/b> ConnectionError <span class="muted">same place as 3<\/span>/)
  t.match(page, /<summary><b>2<\/b> AggregateError <span class="muted"><code>src\/entities\/museums\.ts:18:11/)
  t.match(page, /Root cause, 3 of 5.*Outermost, 1 of 5.*<small>2 of 5/s)
})

t.test('the exceptions of a routing failure are all folded', async t => {
  const page = String(renderExceptions(notFoundProfile(), place, 3))
  t.equal(page.match(/fold"><summary><b>/g)?.length, 2)
})

t.test('members after the first two are without source and foreign frames, and so are their causes', async t => {
  const member = (changes: Partial<Exception> = {}) => exception({ relation: 'member', parent: 0, ...changes })
  const exceptions = [
    exception({ class: 'AggregateError' }),
    member(),
    member({ class: 'SecondError' }),
    member({ class: 'ThirdError', message: '' }),
    exception({ class: 'BeneathError', relation: 'cause', parent: 3 }),
    exception({ class: 'CauseError', relation: 'cause', parent: 0 }),
    exception({ class: 'LaterError' }),
  ]
  const page = render(...exceptions)
  t.equal(page.match(/<article/g)?.length, 7)
  t.match(part(page, 4), /<ol class="frames">\s*<li>.*showMuseum/s)
  t.equal(exceptionsMarkdown(exceptions, '###', place.root).match(/> 41 \|/g)?.length, 5)
  const brief = render(exception({ frames: [] }), ...[[], [], foreignFrames(), []].map(frames => member({ frames })))
  t.equal(part(brief, 4).match(/<li/g)?.length, 1)
  t.match(part(brief, 5), 'No stack trace.')
})

t.test('the first line of the application is open with seven lines around it, and other frames are folded', async t => {
  const page = render(exception({ frames: [...foreignFrames(), ownFrame(), ...foreignFrames()] }))
  t.equal(page.match(/<details/g)?.length, 1)
  t.equal(page.match(/data-line/g)?.length, 7)
  t.match(page, '<summary>6 more frames: 6 in fastify, @fastify/cookie, Node</summary>')
  const own = render(exception({ frames: Array.from({ length: 8 }, (_, line) => ownFrame({ line: line + 1 })) }))
  t.match(own, '<summary>7 more frames: 7 yours</summary>')
  t.equal(own.match(/<pre class="source"/g)?.length, 6, 'the first five of them have their source')
})

t.test('an exception without frames of the application shows the nearest line above it that is', async t => {
  const page = render(exception(), exception({ relation: 'cause', parent: 0, frames: foreignFrames() }))
  t.match(page, /No frame of yours\. The nearest line of yours:.*museums\.ts.*<summary>1 frame: 1 in fastify/s)
})

t.test('a frame that is neither from the application nor from a package is still shown', async t => {
  const frame: Frame = { function: null, kind: 'module', file: '/opt/other.js', line: 1, column: 1 }
  t.match(render(exception({ frames: [frame] })), /1 frame: 1 in other files.*anonymous/s)
})

t.test('frames that a cause shares with its parent are counted, except for the first', async t => {
  const calls = [ownFrame({ line: 7 }), ...foreignFrames()]
  const cause = exception({
    class: 'CauseError',
    relation: 'cause',
    parent: 0,
    frames: [ownFrame({ line: 3 }), ...calls],
  })
  const page = render(exception({ frames: [ownFrame(), ...calls] }), cause, { ...cause, parent: 1 })
  t.match(page, '4 frames shared with MuseumError.')
  t.match(page, '4 frames shared with CauseError.')
})

t.test('an exception has its code, status and properties, and a missing message or stack is named', async t => {
  const coded = exception({ code: 'E_X', statusCode: 418, properties: { museum: 7 } })
  t.match(render(coded), /E_X.*418.*1 property.*museum/s)
  t.match(render(exception({ message: '', frames: [] })), /No message\..*No stack trace\./s)
})

t.test('a stack trace reads as Node prints it', async t => {
  t.equal(
    stackTraceText(exception({ frames: [ownFrame(), ownFrame({ function: null })] }), place.root),
    'MuseumError: Museum 7 could not be shown\n    at showMuseum (routes/museums.ts:41:11)\n    at routes/museums.ts:41:11',
  )
  t.equal(stackTraceText(exception({ message: '', frames: [] }), place.root), 'MuseumError')
})

t.test('the Markdown has each message, source with the line marked, and stack', async t => {
  const { exceptions } = failedProfile()
  const text = exceptionsMarkdown(exceptions, '###', place.root)
  t.match(text, '### 1. MuseumError (thrown)')
  t.match(text, '`routes/museums.ts:41:11`\n\n```ts')
  t.match(text, '> 41 |     throw new MuseumError')
  t.match(text, '### 5. TimeoutError (member)')
  t.match(stackTracesMarkdown(exceptions, place.root), 'at showMuseum (routes/museums.ts:41:11)')
  t.notMatch(exceptionsMarkdown([exception({ message: '', frames: foreignFrames() })], '###', place.root), '```ts')
})

const sender = { file: '/srv/museum/routes/works.ts', line: 7, column: 3 }

/** A request that failed because of a query. */
const failedBy = (sql: string, changes: Partial<Exception>) => {
  const thrown = exception({ class: 'error', frames: foreignFrames(), ...changes })
  const query = exampleQuery({ sql, error: `error: ${thrown.message}`, location: sender })
  return profile({ status: 500, exceptions: [thrown], database: exampleUse([exampleQuery(), query]) })
}

for (const [message, properties, sql, marked] of [
  [
    'column "nmae" does not exist',
    { position: '8' },
    'select nmae\nfrom works',
    'select nmae\n       ^^^^\nfrom works',
  ],
  ['syntax error at or near "form"', { position: '10' }, 'select *\nform works', 'select *\nform works\n^^^^'],
  [
    "Unknown column 'nmae' in 'field list'",
    {},
    'select id, nmae from works',
    'select id, nmae from works\n           ^^^^',
  ],
  ['column "id" is ambiguous', {}, 'select id from works where id = 1', 'select id from works where id = 1'],
  ['deadlock detected', {}, 'update works set year = 1', 'update works set year = 1'],
  ['column "nmae" does not exist', { position: '90000' }, 'select [masked]', 'select [masked]'],
] as const) {
  t.test(`a query that failed shows what is wrong in it: ${message}`, async t => {
    const markdown = renderErrorMarkdown(context(failedBy(sql, { message, properties })))
    t.match(markdown, `## Query 2 failed\n\n\`\`\`sql\n${marked}\n\`\`\`\n`)
  })
}

t.test('a query whose error was only logged is not what made a request fail', async t => {
  const logged = failedBy('select nmae', { message: 'column "nmae" does not exist', relation: 'logged' })
  t.match(renderErrorMarkdown(context(logged)), 'Query 2 failed', 'unless nothing was thrown')
  logged.exceptions.unshift(exception())
  t.notMatch(renderErrorMarkdown(context(logged)), 'Query 2 failed')
})

t.test('a query that failed has what the database suggests, and the line that sent it', async t => {
  const message = 'column "nmae" does not exist'
  const failed = failedBy('select nmae', { message, code: '42703', properties: { hint: 'Perhaps <name>.' } })
  const page = renderErrorPage(context(failed)).replace(/<[^>]+>/g, '')
  t.match(page, /Query 2 failed 42703 · sent by routes\/works\.ts:7/)
  t.match(page, 'The database suggests: Perhaps &lt;name&gt;.')
  const [resolved] = readSources(failed).exceptions
  t.match(resolved?.frames.at(-1), { ...sender, kind: 'own' }, 'for an error without a frame of the application')
})
