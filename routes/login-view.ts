import type { User } from '../plugins/firewall.ts'
import { html } from '../src/pages/html.ts'
import { wordsFor } from '../src/pages/words.ts'
import { longestEmail } from '../src/sign-in/account.ts'
import { longestPassword } from '../src/sign-in/passwords.ts'
import { renderProblem, renderSession, renderFormPage, type Site } from './site-view.ts'

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

const english = {
  title: 'Sign in',
  email: 'E-mail address',
  password: 'Password',
  remember: 'Stay signed in on this device for 30 days',
  signIn: 'Sign in',
  incomplete: 'Enter an e-mail address and a password.',
  wrong: 'The e-mail address or the password is wrong.',
  tooMany: 'Too many attempts to sign in. Try again in a minute.',
}

const translations: Record<string, typeof english> = {
  de: {
    title: 'Anmelden',
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    remember: 'Auf diesem Gerät 30 Tage angemeldet bleiben',
    signIn: 'Anmelden',
    incomplete: 'Geben Sie eine E-Mail-Adresse und ein Passwort ein.',
    wrong: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
    tooMany: 'Zu viele Anmeldeversuche. Versuchen Sie es in einer Minute noch einmal.',
  },
  fr: {
    title: 'Connexion',
    email: 'Adresse e-mail',
    password: 'Mot de passe',
    remember: 'Rester connecté sur cet appareil pendant 30 jours',
    signIn: 'Se connecter',
    incomplete: 'Saisissez une adresse e-mail et un mot de passe.',
    wrong: 'L’adresse e-mail ou le mot de passe est incorrect.',
    tooMany: 'Trop de tentatives de connexion. Réessayez dans une minute.',
  },
}

/** Renders the sign-in page. @param user who is already signed in */
export function renderLoginPage(site: Site, user: User | null, form: LoginForm): string {
  const { locale } = site
  const { next, email, remember, problem } = form
  const words = wordsFor(locale, translations, english)
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
        <button>${words.signIn}</button>
      </form>`
  const session = user && renderSession(user, locale, { isSentence: true })
  return renderFormPage(site, words.title, main, { session, hasForm: true })
}
