import type { FastifyRequest } from 'fastify'
import type { User } from '../plugins/firewall.ts'
import type {} from '../plugins/license.ts'
import type {} from '../plugins/locale.ts'
import type {} from '../plugins/validity.ts'
import { renderClosureNotice } from '../src/pages/closure-view.ts'
import { type Content, html, type Markup } from '../src/pages/html.ts'
import { formStyle, renderSmallPage } from '../src/pages/site-page.ts'
import { visitorWords } from '../src/pages/visitor-words.ts'

/** Renders who is signed in, a link to the pages of admins, a link to change the password, and a button to sign out. */
export function renderSession(user: User, locale: string, { isSentence }: { isSentence: boolean }) {
  const { signedInAs, admin, changePassword, signOut } = visitorWords(locale).session
  const who = isSentence ? `${signedInAs} ${user.email}` : user.email
  const choices = html`${user.admin && html`<a href="/admin">${admin}</a> `}<a href="/password">${changePassword}</a> <button>${signOut}</button>`
  return html`<form method="post" action="/logout" class="session"><span>${who}</span> <span>${choices}</span></form>`
}

export function renderSignIn(href: string, locale: string): Markup {
  return html`<p class="session"><a href="${href}">${visitorWords(locale).signIn}</a></p>`
}

/** Renders a page of a site with one form, or with a notice. */
export function renderFormPage(
  request: FastifyRequest,
  title: string,
  main: Content,
  { session = null, hasForm = false }: { session?: Markup | null; hasForm?: boolean } = {},
): string {
  const { locale, user, closure } = request
  const { name } = request.requireLicense()
  const notice = renderClosureNotice(closure, locale, user?.admin === true)
  const header = notice !== null || session !== null ? [notice, session] : undefined
  return renderSmallPage({ locale, name, title, main, header, style: hasForm && formStyle })
}

export function renderProblem(problem: string | undefined): Markup | false {
  return problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`
}
