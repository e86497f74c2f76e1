import t from 'tap'
import type { Frame } from '../../base/profile.ts'
import { renderClassChain, renderExceptions } from '../../show/parts/exceptions.ts'
import { renderExceptionSections } from '../../show/parts/exception-sections.ts'
import { exceptionsMarkdown, stackTracesMarkdown } from '../../show/markdown/exceptions-markdown.ts'
import { stackTraceText } from '../../show/parts/stack-trace.ts'
import {
  context,
  exception,
  failedProfile,
  foreignFrames,
  notFoundProfile,
  ownFrame,
  profile,
} from './example-profile.ts'

const place = { root: '/srv/museum', editorUrl: null }

t.test('the chain reads as a sentence: thrown, caused by, with, and', async t => {
  const text = String(renderClassChain(failedProfile().exceptions))
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  t.equal(text, 'MuseumError caused by AggregateError with ConnectionError and ConnectionError and TimeoutError')
})

t.test('a relation to an exception further up names that exception', async t => {
  const exceptions = [
    exception({ class: 'AggregateError' }),
    exception({ class: 'One', relation: 'member', parent: 0 }),
    exception({ class: 'Beneath', relation: 'cause', parent: 1 }),
    exception({ class: 'Other', relation: 'member', parent: 0 }),
  ]
  const text = String(renderClassChain(exceptions))
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  t.equal(text, 'AggregateError with One caused by Beneath · AggregateError with Other')
})

t.test('every exception is shown with its own frames and the exception it belongs to', async t => {
  const text = String(renderExceptions(failedProfile(), place, 3))
  t.equal(text.match(/<article/g)?.length, 5)
  t.match(text, /Cause of <a href="#exception-1">MuseumError/)
  t.match(text, /Member of <a href="#exception-2">AggregateError/)
})

t.test('members after the first two are folded with their causes, without source', async t => {
  const member = (changes: Parameters<typeof exception>[0] = {}) =>
    exception({ relation: 'member', parent: 0, ...changes })
  const exceptions = [
    exception({ class: 'AggregateError' }),
    member(),
    member({ class: 'SecondError' }),
    member({ class: 'ThirdError', message: '' }),
    exception({ class: 'BeneathError', relation: 'cause', parent: 3 }),
    exception({ class: 'CauseError', relation: 'cause', parent: 0 }),
    exception({ class: 'LaterError' }),
  ]
  const text = String(renderExceptions(profile({ exceptions }), place, 3))
  t.same(
    [...text.matchAll(/folded-exception"><summary>(\w+)/g)].map(([, name]) => name),
    ['ThirdError', 'BeneathError'],
  )
  t.equal(text.match(/<article/g)?.length, 7)
  t.equal(text.match(/<pre class="source"/g)?.length, 5)
  t.match(
    text,
    /ThirdError<\/summary>.*<li class="own"><p class="frame">.*showMuseum<\/span><\/p><\/li><\/ol>\s*<\/article><\/details>/s,
  )
  t.equal(exceptionsMarkdown(exceptions, '###').match(/> 41 \|/g)?.length, 5)
})

t.test('a folded member without application frames shows its first frame, and one without frames says so', async t => {
  const member = (frames: Frame[]) => exception({ relation: 'member', parent: 0, frames })
  const text = String(
    renderExceptions(
      profile({ exceptions: [exception({ frames: [] }), member([]), member([]), member(foreignFrames()), member([])] }),
      place,
      3,
    ),
  )
  const [, foreign = '', none = ''] = text.split('folded-exception')
  t.equal(foreign.match(/<li/g)?.length, 1)
  t.match(none, 'No stack trace.')
})

t.test('application code is open, and other frames are folded under the names of their packages', async t => {
  const text = String(renderExceptions(profile({ exceptions: [exception()] }), place, 3))
  t.match(text, /<li class="own">.*<pre class="source"/s)
  t.match(text, '3 frames in fastify, @fastify/cookie, Node')
  t.match(text, '<details class="folded">')
})

t.test('frames above application code are folded separately from those below it', async t => {
  const text = String(
    renderExceptions(
      profile({ exceptions: [exception({ frames: [...foreignFrames(), ownFrame(), ...foreignFrames()] })] }),
      place,
      3,
    ),
  )
  t.equal(text.match(/<details class="folded">/g)?.length, 2)
})

t.test('a frame that is neither from the application nor from a package is still shown', async t => {
  t.match(
    String(
      renderExceptions(
        profile({
          exceptions: [
            exception({ frames: [{ function: null, kind: 'module', file: '/opt/other.js', line: 1, column: 1 }] }),
          ],
        }),
        place,
        3,
      ),
    ),
    /1 frame in other files.*anonymous/s,
  )
})

t.test('the sources of a deep recursion are folded from the seventh on', async t => {
  const text = String(
    renderExceptions(
      profile({ exceptions: [exception({ frames: Array.from({ length: 8 }, () => ownFrame()) })] }),
      place,
      3,
    ),
  )
  t.equal(text.match(/<details><summary>Source/g)?.length, 2)
})

t.test('a routing failure only opens the first source of each exception', async t => {
  const exceptions = [exception({ frames: [ownFrame(), ownFrame({ line: 7 })] })]
  t.equal(
    String(renderExceptions(notFoundProfile({ exceptions }), place, 3)).match(/<details><summary>Source/g)?.length,
    1,
  )
})

t.test('frames that a cause shares with its parent are folded, except for the first', async t => {
  const calls = [ownFrame({ line: 7 }), ...foreignFrames()]
  const cause = exception({
    class: 'CauseError',
    relation: 'cause',
    parent: 0,
    frames: [ownFrame({ line: 3 }), ...calls],
  })
  const text = String(
    renderExceptions(
      profile({ exceptions: [exception({ frames: [ownFrame(), ...calls] }), cause, { ...cause, parent: 1 }] }),
      place,
      3,
    ),
  )
  t.match(text, '<summary>4 frames shared with MuseumError</summary>')
  t.match(text, '<summary>4 frames shared with CauseError</summary>')
  t.equal(text.match(/<li class="own">/g)?.length, 4)
})

t.test('an exception without message or stack says so', async t => {
  const text = String(renderExceptions(profile({ exceptions: [exception({ message: '', frames: [] })] }), place, 3))
  t.match(text, 'No message.')
  t.match(text, 'No stack trace.')
})

t.test('the code, status and properties of an exception are shown', async t => {
  const text = String(
    renderExceptions(
      profile({ exceptions: [exception({ code: 'E_X', statusCode: 418, properties: { museum: 7 } })] }),
      place,
      3,
    ),
  )
  t.match(text, /E_X.*418.*1 property.*museum/s)
})

t.test('a parent that is not in the list is not linked', async t => {
  t.notMatch(
    String(renderExceptions(profile({ exceptions: [exception({ relation: 'cause', parent: 9 })] }), place, 3)),
    'Cause of',
  )
})

t.test('the sections of a routing failure start with the nearest routes', async t => {
  t.match(String(renderExceptionSections(context(notFoundProfile()), 3)), /Nearest routes.*NotFoundHttpError/s)
})

t.test('the sections of other failures do not mention routes', async t => {
  t.notMatch(String(renderExceptionSections(context(failedProfile()), 3)), 'Nearest routes')
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
  const text = exceptionsMarkdown(exceptions, '###')
  t.match(text, '### 1. MuseumError (thrown)')
  t.match(text, '> 41 |     throw new MuseumError')
  t.match(text, '### 5. TimeoutError (member)')
  t.match(stackTracesMarkdown(exceptions, place.root), 'at showMuseum (routes/museums.ts:41:11)')
})

t.test('the Markdown of an exception without source has none', async t => {
  t.notMatch(exceptionsMarkdown([exception({ message: '', frames: foreignFrames() })], '###'), '```ts')
})
