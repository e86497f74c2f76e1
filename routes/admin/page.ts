import type { FastifyReply, FastifyRequest } from 'fastify'
import { renderClosureNotice } from '../../src/pages/closure-view.ts'
import { type Content, html, type Markup } from '../../src/pages/html.ts'
import { adminStyle, renderPage } from '../../src/pages/site-page.ts'
import type { Names } from '../../src/records/names.ts'
import type { RecordKind } from '../../src/records/record-kind.ts'
import { valueOf } from '../../src/records/validation.ts'
import { sendPage } from '../credential-form.ts'
import { renderSession } from '../site-view.ts'
import type { Field } from './fields.ts'
import { type Words, wordsOf } from './words.ts'

/** The path of a kind's list, of one of its records, or of what can be done with one. */
export function pathOf({ plural }: Pick<RecordKind, 'plural'>, ...parts: readonly string[]): string {
  return ['/admin', plural.replaceAll(' ', '-'), ...parts].join('/')
}

interface AdminPage {
  title: string
  main: Content
  done?: Content
  problem?: Content
}

export function sendAdminPage(request: FastifyRequest, reply: FastifyReply, page: AdminPage): FastifyReply {
  const { locale, closure } = request
  const license = request.requireLicense()
  const { title, main, done, problem } = page
  const words = wordsOf(locale)
  const path = request.url.replace(/\?.*/, '')
  const places = [
    ['/admin', words.admin] as const,
    ...[...request.server.recordKinds, { plural: 'tokens' }, { plural: 'audit' }].map(
      kind => [pathOf(kind), words.title(kind.plural)] as const,
    ),
  ]
  const isHere = (href: string) => href === path || (href !== '/admin' && path.startsWith(`${href}/`))
  const rendered = renderPage({
    language: words.language,
    title: `${title} – ${words.admin} – ${license.name}`,
    style: adminStyle,
    header: [
      renderClosureNotice(closure, words.language, true),
      request.user && renderSession(request.user, words.language, { isSentence: false }),
      html`
      <nav class="places" aria-label="${words.admin}"><ul><li><a href="/">${license.name}</a></li>${places.map(
        ([href, name]) => html`
        <li><a href="${href}"${isHere(href) && html` aria-current="page"`}>${name}</a></li>`,
      )}
      </ul></nav>`,
    ],
    main: html`
      <h1>${title}</h1>
      ${done !== undefined && html`<p class="notice" role="status">${done}</p>`}
      ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
      ${main}`,
  })
  return sendPage(reply.header('content-language', words.language), rendered)
}

/** Renders a value of a record: a time in UTC, and a reference as a link. */
export function renderValue(words: Words, { schema, to }: Field, value: unknown, names?: Names): Content {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? words.yes : words.no
  const text = [value].flat().map(String).join(', ')
  if (to !== undefined) return html`<a href="${pathOf(to, text)}">${names?.get(text) ?? `# ${text}`}</a>`
  return valueOf(schema).format === 'date-time' ? renderTime(text) : text
}

/** Renders a time in UTC, to the minute. */
export function renderTime(time: string): Markup {
  return html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`
}
