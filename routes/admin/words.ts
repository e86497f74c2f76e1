import { type Content, html } from '../../src/pages/html.ts'
import { visitorWords } from '../../src/pages/visitor-words.ts'
import { wordsFor } from '../../src/pages/words.ts'
import { descriptions, names } from './kind-words.ts'

const english = {
  language: 'en',
  add: (kind: string) => `Add ${kind}`,
  save: 'Save',
  saved: 'Saved.',
  cancel: 'Cancel',
  back: 'Back',
  remove: 'Remove',
  removed: 'Removed.',
  removeOne: (kind: string, name: string) => `Remove the ${kind} “${name}”?`,
  alone: 'Nothing else goes with it.',
  notAlone: 'This happens to others, too:',
  fates: {
    removed: (count: number, kinds: string) => `${kinds}: ${count} removed with it`,
    unlinked: (count: number, kinds: string) => `${kinds}: ${count} lose their link to it`,
  },
  refused: 'This was not saved. Each field that is wrong says why.',
  changedBy: (actor: string) => `Changed by ${actor} meanwhile`,
  outdated:
    'Nothing of yours was saved. Below is what you entered, and what is saved now where it differs. Saving replaces it.',
  savedNow: 'Saved now:',
  history: 'Who changed it',
  search: 'Search',
  filters: 'Filters',
  clear: 'Show all',
  any: 'any',
  nothing: 'none',
  yes: 'yes',
  no: 'no',
  parts: {
    prefix: (field: string) => `${field} begins with`,
    from: (field: string) => `${field} from`,
    until: (field: string) => `${field} before`,
  },
  total: (count: number) => `${count.toLocaleString('en')} found`,
  first: 'first',
  beginning: 'Beginning of the name',
  find: 'Find',
  found: (count: number, text: string) => `“${text}”: ${count} to choose from`,
  makeLink: 'Make a link to choose a password',
  madeLink: (minutes: number) =>
    `The user chooses a password by this link. It works once, for ${minutes} minutes, and is not shown again.`,
  madeToken: 'This is the token. It is not shown again.',
}

const german: typeof english = {
  language: 'de',
  add: kind => `${kind} hinzufügen`,
  save: 'Speichern',
  saved: 'Gespeichert.',
  cancel: 'Abbrechen',
  back: 'Zurück',
  remove: 'Löschen',
  removed: 'Gelöscht.',
  removeOne: (kind, name) => `${kind} „${name}“ löschen?`,
  alone: 'Sonst geht nichts verloren.',
  notAlone: 'Das betrifft auch andere:',
  fates: {
    removed: (count, kinds) => `${kinds}: ${count} werden mit gelöscht`,
    unlinked: (count, kinds) => `${kinds}: ${count} verlieren ihre Verknüpfung damit`,
  },
  refused: 'Das wurde nicht gespeichert. Bei jedem falschen Feld steht, warum.',
  changedBy: actor => `Inzwischen geändert von ${actor}`,
  outdated:
    'Von Ihnen wurde nichts gespeichert. Unten steht, was Sie eingegeben haben, und was jetzt gespeichert ist, wo es abweicht. Speichern ersetzt es.',
  savedNow: 'Jetzt gespeichert:',
  history: 'Wer es geändert hat',
  search: 'Suchen',
  filters: 'Filter',
  clear: 'Alle zeigen',
  any: 'beliebig',
  nothing: 'keine Angabe',
  yes: 'ja',
  no: 'nein',
  parts: {
    prefix: field => `${field} beginnt mit`,
    from: field => `${field} ab`,
    until: field => `${field} vor`,
  },
  total: count => `${count.toLocaleString('de')} gefunden`,
  first: 'zuerst',
  beginning: 'Anfang des Namens',
  find: 'Finden',
  found: (count, text) => `„${text}“: ${count} zur Auswahl`,
  makeLink: 'Link zum Wählen eines Passworts erstellen',
  madeLink: minutes =>
    `Mit diesem Link wählt der Benutzer ein Passwort. Er gilt einmal, für ${minutes} Minuten, und wird nicht wieder gezeigt.`,
  madeToken: 'Das ist der Token. Er wird nicht wieder gezeigt.',
}

const french: typeof english = {
  language: 'fr',
  add: kind => `Ajouter : ${kind}`,
  save: 'Enregistrer',
  saved: 'Enregistré.',
  cancel: 'Annuler',
  back: 'Retour',
  remove: 'Supprimer',
  removed: 'Supprimé.',
  removeOne: (kind, name) => `Supprimer « ${name} » (${kind}) ?`,
  alone: 'Rien d’autre n’est supprimé.',
  notAlone: 'D’autres données sont concernées :',
  fates: {
    removed: (count, kinds) => `${kinds} : ${count} à supprimer aussi`,
    unlinked: (count, kinds) => `${kinds} : ${count} à dissocier`,
  },
  refused: 'Rien n’a été enregistré. Chaque champ incorrect dit pourquoi.',
  changedBy: actor => `Modifié entre-temps par ${actor}`,
  outdated:
    'Rien de votre saisie n’a été enregistré. Voici votre saisie et, là où elle diffère, ce qui est enregistré maintenant. Enregistrer le remplace.',
  savedNow: 'Enregistré maintenant :',
  history: 'Qui l’a modifié',
  search: 'Rechercher',
  filters: 'Filtres',
  clear: 'Tout afficher',
  any: 'peu importe',
  nothing: 'aucune valeur',
  yes: 'oui',
  no: 'non',
  parts: {
    prefix: field => `${field} commence par`,
    from: field => `${field} à partir de`,
    until: field => `${field} avant`,
  },
  total: count => `${count.toLocaleString('fr')} au total`,
  first: 'en premier',
  beginning: 'Début du nom',
  find: 'Trouver',
  found: (count, text) => `« ${text} » : ${count} au choix`,
  makeLink: 'Créer un lien pour choisir un mot de passe',
  madeLink: minutes =>
    `Par ce lien, l’utilisateur choisit un mot de passe. Il fonctionne une fois, pendant ${minutes} minutes, et ne sera plus affiché.`,
  madeToken: 'Voici le jeton. Il ne sera plus affiché.',
}

const translations: Record<string, typeof english> = { de: german, fr: french }

export function wordsOf(locale: string) {
  const words = wordsFor(locale, translations, english)
  const { session, frontPage } = visitorWords(words.language)
  const name = (text: string) => names[text]?.[words.language] ?? text
  return {
    ...words,
    admin: session.admin,
    paging: frontPage,
    /** The name of a kind, a field or a choice. In English if there is no other. */
    name,
    title(text: string): string {
      const named = name(text)
      return named.charAt(0).toUpperCase() + named.slice(1)
    },
    say(text: string): Content {
      return descriptions[text]?.[words.language] ?? this.quote(forPeople(text))
    },
    /** A sentence that is always in English. */
    quote(text: string): Content {
      return words.language === 'en' ? text : html`<span lang="en">${text}</span>`
    },
  }
}

/** Descriptions are those of the API, where fields are ids and may be null. */
function forPeople(description: string): string {
  return description
    .replace(/^The ids? of (.)/, (_, first: string) => first.toUpperCase())
    .replace(/\bNull: /g, 'Empty: ')
}

export type Words = ReturnType<typeof wordsOf>
