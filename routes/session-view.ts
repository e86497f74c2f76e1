import type { User } from '../plugins/firewall.ts'
import { html } from '../src/pages/html.ts'
import { wordsFor } from '../src/pages/words.ts'

const english = { signedInAs: 'You are signed in as', changePassword: 'Change password', signOut: 'Sign out' }
const translations: Record<string, typeof english> = {
  de: { signedInAs: 'Angemeldet als', changePassword: 'Passwort ändern', signOut: 'Abmelden' },
  fr: { signedInAs: 'Connecté en tant que', changePassword: 'Changer le mot de passe', signOut: 'Se déconnecter' },
}

/** Renders who is signed in, a link to change the password, and a button to sign out. */
export function renderSession({ email }: User, locale: string, { isSentence }: { isSentence: boolean }) {
  const { signedInAs, changePassword, signOut } = wordsFor(locale, translations, english)
  const who = isSentence ? `${signedInAs} ${email}` : email
  const choices = html`<a href="/password">${changePassword}</a> <button>${signOut}</button>`
  return html`<form method="post" action="/logout" class="session"><span>${who}</span> <span>${choices}</span></form>`
}
