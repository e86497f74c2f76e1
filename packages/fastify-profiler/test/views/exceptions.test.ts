import t from 'tap'
import type { Exception, Profile } from '../../core/profile.ts'
import { blocksHtml, blocksMarkdown } from '../../core/view/block.ts'
import { exceptionBlocks, rootCauseOf, stackTraceText } from '../../features/exceptions/exceptions.ts'
import { renderErrorPage } from '../../features/exceptions/error-page.ts'
import { renderErrorMarkdown } from '../../features/exceptions/failure-sections.ts'
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
  textOf,
} from './example-profile.ts'

const place = { root: '/srv/museum', editorUrl: null }

const pageOf = (of: Profile) => String(blocksHtml(exceptionBlocks(of, place), place))
const render = (...exceptions: Exception[]) => pageOf(profile({ exceptions }))

t.test('the chain is a numbered tree with the message, the role and the place of each', async t => {
  const tree =
    '1 MuseumError Museum 7 could not be shown Outermost routes/ museums.ts:41 ' +
    '2 AggregateError All databases are unreachable Cause src/entities/ museums.ts:18 ' +
    '3 ConnectionError connect ECONNREFUSED 10.0.0.4:5432 Root cause src/database/ connect.ts:33 ' +
    '4 ConnectionError connect ECONNREFUSED 10.0.0.5:5432 Member src/database/ connect.ts:33 ' +
    '5 TimeoutError Member no stack trace'
  t.equal(textOf(pageOf(failedProfile())).slice(0, tree.length), tree)
})

t.test('the exception that a 5xx comes from is the outermost, whatever was thrown before', async t => {
  const exceptions = [
    exception({ class: 'Refusal', statusCode: 422 }),
    exception({ class: 'Crash' }),
    exception({ class: 'Disk', relation: 'cause', parent: 1 }),
  ]
  const page = pageOf(profile({ status: 500, exceptions }))
  t.match(page, /<section id="exception-3".*<section id="exception-2"/s)
  t.match(textOf(page), /2\.2 Disk Root cause, 2 of 2.*1 Refusal \d+ Thrown.*2\.1 Crash Outermost, 1 of 2/)
})

t.test('errors that do not cause each other are numbered as chains of their own', async t => {
  const exceptions = [
    exception({ class: 'FirstError' }),
    exception({ class: 'FirstCause', relation: 'cause', parent: 0 }),
    exception({ class: 'SecondError' }),
    exception({ class: 'SecondCause', relation: 'cause', parent: 2 }),
    exception({ class: 'DeepCause', relation: 'cause', parent: 3 }),
    exception({ class: 'Alone', relation: 'logged' }),
  ]
  const markdown = blocksMarkdown(exceptionBlocks(profile({ exceptions }), place), '')
  t.same(markdown.match(/(?<=^### ).*/gm), [
    '1.2 FirstCause Root cause, 2 of 2',
    '1.1 FirstError Outermost, 1 of 2',
    '2.1 SecondError Thrown, 1 of 3 `routes/museums.ts:41:11`',
    '2.2 SecondCause Cause, 2 of 3 `routes/museums.ts:41:11`',
    '2.3 DeepCause Cause, 3 of 3 `routes/museums.ts:41:11`',
    '3 Alone from the log Logged `routes/museums.ts:41:11`',
  ])
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
  const page = pageOf(failedProfile())
  t.match(page, /<section id="exception-3".*<section id="exception-1".*id="exception-2".*id="exception-5"/s)
  t.equal(page.match(/<summary>[245] \w+Error/g)?.length, 3)
  t.match(textOf(page), /3 ConnectionError ECONNREFUSED Root cause, 3 of 5.*1 MuseumError Outermost, 1 of 5/)
  t.match(textOf(page), /2 AggregateError Cause, 2 of 5 src\/entities\/museums\.ts:18:11/)
  t.equal(pageOf(notFoundProfile()).match(/<summary>\d \w+Error/g)?.length, 2, 'all of a routing failure')
})

t.test('the first line of the application is open with seven lines around it, and other frames are folded', async t => {
  const page = render(exception({ frames: [...foreignFrames(), ownFrame(), ...foreignFrames()] }))
  t.equal(page.match(/<details/g)?.length, 1)
  t.equal(page.match(/data-line/g)?.length, 7)
  t.match(page, '<summary>6 more frames</summary>')
  const own = render(exception({ frames: Array.from({ length: 8 }, (_, line) => ownFrame({ line: line + 1 })) }))
  t.match(own, '<summary>7 more frames, 7 of them yours</summary>')
  t.equal(own.match(/<pre class="source"/g)?.length, 6, 'the first five of them have their source')
})

t.test('an exception without frames of the application shows the nearest line above it that is', async t => {
  const page = render(exception(), exception({ relation: 'cause', parent: 0, frames: foreignFrames() }))
  t.match(page, /No frame of yours\. The nearest line of yours:.*museums\.ts.*<summary>3 frames/s)
})

t.test('an exception has its code, status and properties, and a missing message or stack is named', async t => {
  const coded = exception({ code: 'E_X', statusCode: 418, relation: 'logged', properties: { museum: 7 } })
  t.match(render(coded), /E_X.*418.*from the log.*1 property.*museum/s)
  const bare = exception({ message: '', frames: [] })
  t.match(render(bare), /No message\..*No stack trace\./s)
  t.match(renderErrorMarkdown(context(failedProfile({ exceptions: [bare] }))), '## Stack Traces (0)')
})

t.test('a stack trace reads as Node prints it', async t => {
  t.equal(
    stackTraceText(exception({ frames: [ownFrame(), ownFrame({ function: null })] }), place.root),
    'MuseumError: Museum 7 could not be shown\n    at showMuseum (routes/museums.ts:41:11)\n    at routes/museums.ts:41:11',
  )
  t.equal(stackTraceText(exception({ message: '', frames: [] }), place.root), 'MuseumError')
})

t.test('the Markdown has each message, its source with the line marked, and its stack', async t => {
  const of = failedProfile()
  const markdown = blocksMarkdown(exceptionBlocks(of, place), place.root)
  t.match(markdown, /### 1 MuseumError.*`routes\/museums\.ts:41:11`\n\n```ts.*> 41 \| {5}throw new MuseumError/s)
  t.match(markdown, '### 5 TimeoutError Member, 5 of 5')
  t.match(renderErrorMarkdown(context(of)), 'at showMuseum (routes/museums.ts:41:11)')
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
  ['column "nmae" does not exist', { position: '90000' }, 'select [masked]', 'select [masked]'],
] as const) {
  t.test(`a query that failed shows what is wrong in it: ${message}`, async t => {
    const markdown = renderErrorMarkdown(context(failedBy(sql, { message, properties })))
    t.match(markdown, '### Query 2 failed')
    t.match(markdown, `\`\`\`sql\n${marked}\n\`\`\`\n`)
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
