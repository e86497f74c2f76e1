import type { FastifyRequest } from 'fastify'
import type { User } from '../plugins/firewall.ts'
import { html } from '../src/pages/html.ts'
import { visitorWords } from '../src/pages/visitor-words.ts'
import { longestPassword, shortestPassword } from '../src/sign-in/passwords.ts'
import { renderProblem, renderSession, renderFormPage } from './site-view.ts'

export type PasswordProblem = 'incomplete' | 'wrong' | 'different' | 'unfit' | 'tooMany'

/** What the form is for: the password of the user who is signed in, or that of a link's user. */
export type PasswordForm = { user: User } | { token: string }

/** Renders the form. It works without JavaScript, and says to password managers which password is which. */
export function renderPasswordForm(request: FastifyRequest, form: PasswordForm, problem?: PasswordProblem): string {
  const { locale } = request
  const {
    password: words,
    session: { changePassword },
  } = visitorWords(locale)
  const isOwn = 'user' in form
  const main = html`${renderProblem(problem && words[problem])}
      <form method="post" action="${isOwn ? '/password' : '/password/reset'}?_locale=${locale}" class="fields">
        ${
          isOwn
            ? html`
        <input type="text" name="username" value="${form.user.email}" autocomplete="username" readonly hidden>
        <label for="current_password">${words.current}</label>
        <input id="current_password" name="current_password" type="password" maxlength="${longestPassword}"
          autocomplete="current-password" required autofocus>`
            : html`<input type="hidden" name="token" value="${form.token}">`
        }
        <label for="password">${words.password}</label>
        <input id="password" name="password" type="password" minlength="${shortestPassword}"
          maxlength="${longestPassword}" autocomplete="new-password" aria-describedby="hint" required${!isOwn && html` autofocus`}>
        <span id="hint" class="quiet">${words.hint}</span>
        <label for="repeated_password">${words.repeated}</label>
        <input id="repeated_password" name="repeated_password" type="password" minlength="${shortestPassword}"
          maxlength="${longestPassword}" autocomplete="new-password" required>
        <button>${changePassword}</button>
      </form>`
  const session = isOwn ? renderSession(form.user, locale, { isSentence: false }) : null
  return renderFormPage(request, isOwn ? changePassword : words.choose, main, { session, hasForm: true })
}

/** Renders the page after a change. @param isSignedIn whether the change kept the user signed in */
export function renderPasswordChanged(request: FastifyRequest, { isSignedIn }: { isSignedIn: boolean }): string {
  const { password, toFrontPage, signIn } = visitorWords(request.locale)
  return isSignedIn
    ? renderNotice(request, password.changed, password.signedOut, { href: '/', text: toFrontPage })
    : renderNotice(request, password.changed, password.signInAgain, { href: '/login', text: signIn })
}

export function renderLinkEnded(request: FastifyRequest): string {
  const { password, signIn } = visitorWords(request.locale)
  return renderNotice(request, password.ended, password.endedBy, { href: '/login', text: signIn })
}

function renderNotice(
  request: FastifyRequest,
  title: string,
  text: string,
  link: { href: string; text: string },
): string {
  const main = html`<p>${text}</p>
      <p><a href="${link.href}">${link.text}</a></p>`
  return renderFormPage(request, title, main)
}
