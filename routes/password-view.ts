import type { User } from '../plugins/firewall.ts'
import { html } from '../src/pages/html.ts'
import { wordsFor } from '../src/pages/words.ts'
import { longestPassword, shortestPassword } from '../src/sign-in/passwords.ts'
import { renderProblem, renderSession, renderFormPage, type Site } from './site-view.ts'

/** Why a password was not changed. */
export type PasswordProblem = 'incomplete' | 'wrong' | 'different' | 'unfit' | 'tooMany'

/** What the form is for: the password of the user who is signed in, or that of a link's user. */
export type PasswordForm = { user: User } | { token: string }

const english = {
  change: 'Change your password',
  choose: 'Choose a new password',
  current: 'Current password',
  password: 'New password',
  hint: `At least ${shortestPassword} characters`,
  repeated: 'Repeat the new password',
  save: 'Change password',
  incomplete: 'Fill in all fields.',
  wrong: 'The current password is wrong.',
  different: 'The new passwords are not the same.',
  unfit: `A password has ${shortestPassword} to ${longestPassword} characters.`,
  tooMany: 'Too many attempts. Try again in a minute.',
  changed: 'Your password has been changed',
  signedOut: 'You stay signed in here. Everywhere else you have to sign in again.',
  signInAgain: 'Sign in with the new password.',
  signIn: 'Sign in',
  toFrontPage: 'Go to the front page',
  ended: 'This link does not work any more',
  endedBy: 'It has been used, it is more than an hour old, or there is a newer one. Ask for another link.',
}

const translations: Record<string, typeof english> = {
  de: {
    change: 'Passwort ändern',
    choose: 'Neues Passwort wählen',
    current: 'Aktuelles Passwort',
    password: 'Neues Passwort',
    hint: `Mindestens ${shortestPassword} Zeichen`,
    repeated: 'Neues Passwort wiederholen',
    save: 'Passwort ändern',
    incomplete: 'Füllen Sie alle Felder aus.',
    wrong: 'Das aktuelle Passwort ist falsch.',
    different: 'Die neuen Passwörter stimmen nicht überein.',
    unfit: `Ein Passwort hat ${shortestPassword} bis ${longestPassword} Zeichen.`,
    tooMany: 'Zu viele Versuche. Versuchen Sie es in einer Minute noch einmal.',
    changed: 'Ihr Passwort ist geändert',
    signedOut: 'Hier bleiben Sie angemeldet. Überall sonst müssen Sie sich neu anmelden.',
    signInAgain: 'Melden Sie sich mit dem neuen Passwort an.',
    signIn: 'Anmelden',
    toFrontPage: 'Zur Startseite',
    ended: 'Dieser Link gilt nicht mehr',
    endedBy:
      'Er wurde benutzt, ist mehr als eine Stunde alt, oder es gibt einen neueren. Bitten Sie um einen neuen Link.',
  },
  fr: {
    change: 'Changer le mot de passe',
    choose: 'Choisir un nouveau mot de passe',
    current: 'Mot de passe actuel',
    password: 'Nouveau mot de passe',
    hint: `Au moins ${shortestPassword} caractères`,
    repeated: 'Répétez le nouveau mot de passe',
    save: 'Changer le mot de passe',
    incomplete: 'Remplissez tous les champs.',
    wrong: 'Le mot de passe actuel est incorrect.',
    different: 'Les nouveaux mots de passe ne sont pas identiques.',
    unfit: `Un mot de passe compte de ${shortestPassword} à ${longestPassword} caractères.`,
    tooMany: 'Trop de tentatives. Réessayez dans une minute.',
    changed: 'Votre mot de passe a été changé',
    signedOut: 'Vous restez connecté ici. Partout ailleurs, il faut vous reconnecter.',
    signInAgain: 'Connectez-vous avec le nouveau mot de passe.',
    signIn: 'Se connecter',
    toFrontPage: 'Aller à la page d’accueil',
    ended: 'Ce lien ne fonctionne plus',
    endedBy: 'Il a été utilisé, date de plus d’une heure, ou il en existe un plus récent. Demandez un nouveau lien.',
  },
}

/** The problem in English, for clients that are no browsers. */
export function describeProblem(problem: PasswordProblem): string {
  return english[problem]
}

/** Renders the form. It works without JavaScript, and says to password managers which password is which. */
export function renderPasswordForm(site: Site, form: PasswordForm, problem?: PasswordProblem): string {
  const { locale } = site
  const words = wordsFor(locale, translations, english)
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
        <button>${words.save}</button>
      </form>`
  const session = isOwn ? renderSession(form.user, locale, { isSentence: false }) : null
  return renderFormPage(site, isOwn ? words.change : words.choose, main, { session, hasForm: true })
}

/** Renders the page after a change. @param isSignedIn whether the change kept the user signed in */
export function renderPasswordChanged(site: Site, { isSignedIn }: { isSignedIn: boolean }): string {
  const words = wordsFor(site.locale, translations, english)
  return isSignedIn
    ? renderNotice(site, words.changed, words.signedOut, { href: '/', text: words.toFrontPage })
    : renderNotice(site, words.changed, words.signInAgain, { href: '/login', text: words.signIn })
}

/** Renders the page of a link that has been used, has expired or never existed. */
export function renderLinkEnded(site: Site): string {
  const words = wordsFor(site.locale, translations, english)
  return renderNotice(site, words.ended, words.endedBy, { href: '/login', text: words.signIn })
}

function renderNotice(site: Site, title: string, text: string, link: { href: string; text: string }): string {
  const main = html`<p>${text}</p>
      <p><a href="${link.href}">${link.text}</a></p>`
  return renderFormPage(site, title, main)
}
