import type { FastifyRequest } from 'fastify'
import { html } from '../src/pages/html.ts'
import { visitorWords } from '../src/pages/visitor-words.ts'
import { longestEmail } from '../src/sign-in/account.ts'
import { longestPassword } from '../src/sign-in/passwords.ts'
import { renderProblem, renderSession, renderFormPage } from './site-view.ts'

export interface LoginForm {
  /** The path of this site to go to after signing in. */
  next: string
  /** The address that was entered before. */
  email?: string
  remember?: boolean
  problem?: LoginProblem
}

/** Why signing in failed. Never says whether the address or the password was wrong. */
export type LoginProblem = 'incomplete' | 'wrong' | 'tooMany'

/** Renders the sign-in page. It also says who is already signed in. */
export function renderLoginPage(request: FastifyRequest, form: LoginForm): string {
  const { locale, user } = request
  const { next, email, remember, problem } = form
  const { login: words, signIn } = visitorWords(locale)
  const main = html`${renderProblem(problem && words[problem])}
      <form method="post" action="/login?_locale=${locale}" class="fields">
        <input type="hidden" name="next" value="${next}">
        <label for="email">${words.email}</label>
        <input id="email" name="email" type="text" inputmode="email" value="${email}" maxlength="${longestEmail}"
          autocomplete="username" autocapitalize="none" spellcheck="false"
          required${email === undefined && html` autofocus`}>
        <label for="password">${words.password}</label>
        <input id="password" name="password" type="password" maxlength="${longestPassword}"
          autocomplete="current-password" required${email !== undefined && html` autofocus`}>
        <label class="choice">
          <input type="checkbox" name="remember" value="on"${remember === true && html` checked`}> ${words.remember}
        </label>
        <button>${signIn}</button>
      </form>`
  const session = user && renderSession(user, locale, { isSentence: true })
  return renderFormPage(request, words.title, main, { session, hasForm: true })
}
