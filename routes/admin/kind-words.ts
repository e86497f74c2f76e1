/** A text by the languages, beside English, that the admin pages have words for. */
type Translations = Readonly<Record<string, Readonly<Record<string, string>>>>

/** What Portico's kinds, their fields, states and choices are called, by their English names. */
export const names: Translations = {
  'license type': { de: 'Lizenztyp', fr: 'type de licence' },
  'license types': { de: 'Lizenztypen', fr: 'types de licence' },
  language: { de: 'Sprache', fr: 'langue' },
  languages: { de: 'Sprachen', fr: 'langues' },
  platform: { de: 'Plattform', fr: 'plateforme' },
  platforms: { de: 'Plattformen', fr: 'plateformes' },
  license: { de: 'Lizenz', fr: 'licence' },
  licenses: { de: 'Lizenzen', fr: 'licences' },
  museum: { de: 'Museum', fr: 'musée' },
  museums: { de: 'Museen', fr: 'musées' },
  group: { de: 'Gruppe', fr: 'groupe' },
  groups: { de: 'Gruppen', fr: 'groupes' },
  user: { de: 'Benutzer', fr: 'utilisateur' },
  users: { de: 'Benutzer', fr: 'utilisateurs' },
  'api tokens': { de: 'API-Tokens', fr: 'jetons d’API' },
  'password resets': { de: 'Passwort-Link', fr: 'lien de mot de passe' },
  type: { de: 'Typ', fr: 'type' },
  code: { de: 'Sprachkürzel', fr: 'code de langue' },
  name: { de: 'Name', fr: 'nom' },
  domain: { de: 'Domain', fr: 'domaine' },
  url: { de: 'Adresse', fr: 'adresse' },
  protected: { de: 'geschützt', fr: 'protégé' },
  suspended: { de: 'gesperrt', fr: 'suspendu' },
  'valid from': { de: 'gültig ab', fr: 'valable à partir de' },
  'valid until': { de: 'gültig bis', fr: 'valable jusqu’à' },
  'created at': { de: 'angelegt', fr: 'ajouté' },
  'updated at': { de: 'geändert', fr: 'modifié' },
  email: { de: 'E-Mail-Adresse', fr: 'adresse e-mail' },
  admin: { de: 'Admin', fr: 'administrateur' },
  password: { de: 'Passwort', fr: 'mot de passe' },
  'read only': { de: 'nur lesen', fr: 'lecture seule' },
  'expires at': { de: 'endet', fr: 'expire' },
  'last used at': { de: 'zuletzt benutzt', fr: 'dernière utilisation' },
  asleep: { de: 'noch nicht geöffnet', fr: 'pas encore ouvert' },
  ended: { de: 'geschlossen', fr: 'fermé' },
  open: { de: 'geöffnet', fr: 'ouvert' },
  table: { de: 'Tabelle', fr: 'table' },
  record: { de: 'Datensatz', fr: 'enregistrement' },
  via: { de: 'Weg', fr: 'voie' },
  action: { de: 'Handlung', fr: 'action' },
  audit: { de: 'Protokoll', fr: 'journal' },
  token: { de: 'Token', fr: 'jeton' },
  tokens: { de: 'Tokens', fr: 'jetons' },
  at: { de: 'Zeit', fr: 'moment' },
  actor: { de: 'Wer', fr: 'auteur' },
  changes: { de: 'Änderungen', fr: 'modifications' },
  state: { de: 'Zustand', fr: 'état' },
  api: { de: 'API', fr: 'API' },
  command: { de: 'Kommando', fr: 'commande' },
  add: { de: 'hinzugefügt', fr: 'ajouté' },
  change: { de: 'geändert', fr: 'modifié' },
  remove: { de: 'gelöscht', fr: 'supprimé' },
}

/** What Portico's kinds and their fields are for, by the English sentences. */
export const descriptions: Translations = {
  'Labels of licenses. A license without a type is not served.': {
    de: 'Bezeichnungen von Lizenzen. Zu einer Lizenz ohne Typ gibt es keine Website.',
    fr: 'Catégories de licences. Une licence sans type n’a pas de site.',
  },
  'The languages that sites are served in.': {
    de: 'Die Sprachen, in denen es Websites gibt.',
    fr: 'Les langues dans lesquelles les sites existent.',
  },
  'What sites are served on, such as the web or a kiosk.': {
    de: 'Worauf Websites laufen, etwa im Web oder an einem Terminal.',
    fr: 'Où les sites sont servis : sur le web ou une borne.',
  },
  'A license lets a host be served, and describes its site.': {
    de: 'Eine Lizenz erlaubt eine Website auf einem Host und beschreibt sie.',
    fr: 'Une licence autorise un site sur un hôte et le décrit.',
  },
  "The museums that a license's site shows.": {
    de: 'Die Museen, die die Website einer Lizenz zeigt.',
    fr: 'Les musées que montre le site d’une licence.',
  },
  "Users who may enter a license's site if it is protected.": {
    de: 'Benutzer, die die Website einer Lizenz betreten dürfen, wenn sie geschützt ist.',
    fr: 'Les utilisateurs qui peuvent entrer sur le site d’une licence s’il est protégé.',
  },
  'People who can sign in. An admin may enter every site and change every record.': {
    de: 'Wer sich anmelden kann. Ein Admin darf jede Website betreten und alles ändern.',
    fr: 'Qui peut se connecter. Un administrateur peut entrer sur tous les sites et tout modifier.',
  },
  'The label of the license type.': { de: 'Die Bezeichnung des Lizenztyps.', fr: 'La désignation du type de licence.' },
  'The language tag (BCP 47).': {
    de: 'Das Sprachkürzel nach BCP 47, etwa en oder pt-BR.',
    fr: 'Le code de langue selon BCP 47, comme en ou pt-BR.',
  },
  'The name of the language, in that language.': {
    de: 'Der Name der Sprache in dieser Sprache.',
    fr: 'Le nom de la langue dans cette langue.',
  },
  'The name of the platform.': { de: 'Der Name der Plattform.', fr: 'Le nom de la plateforme.' },
  'The host that is licensed. If several licenses have the same domain, the one with the lowest id counts.': {
    de: 'Der lizenzierte Host. Von mehreren Lizenzen mit derselben Domain gilt die mit der niedrigsten Nummer.',
    fr: 'L’hôte autorisé. De plusieurs licences du même domaine, celle du plus petit numéro compte.',
  },
  'The name of the site.': { de: 'Der Name der Website.', fr: 'Le nom du site.' },
  'The id of the license type.': { de: 'Der Typ der Lizenz.', fr: 'Le type de la licence.' },
  "Whether only admins and members of the license's groups may enter the site.": {
    de: 'Nur Admins und Mitglieder der Gruppen der Lizenz dürfen die Website betreten.',
    fr: 'Seuls les administrateurs et les membres des groupes de la licence peuvent entrer.',
  },
  'Whether the site is closed for now to everybody but admins.': {
    de: 'Die Website ist vorläufig für alle außer Admins geschlossen.',
    fr: 'Le site est fermé pour l’instant à tous sauf aux administrateurs.',
  },
  'When the site opens. Before that, only admins see it. Null: it is open already.': {
    de: 'Wann die Website öffnet. Vorher sehen nur Admins sie. Leer: Sie ist schon geöffnet.',
    fr: 'Quand le site ouvre. Avant, seuls les administrateurs le voient. Vide : il est déjà ouvert.',
  },
  'When the site closes to everybody but admins. Null: never.': {
    de: 'Wann die Website für alle außer Admins schließt. Leer: nie.',
    fr: 'Quand le site ferme à tous sauf aux administrateurs. Vide : jamais.',
  },
  "The ids of the site's languages, the default first.": {
    de: 'Die Sprachen der Website. Die erste ist die übliche.',
    fr: 'Les langues du site. La première est celle par défaut.',
  },
  'The ids of the platforms that the site is served on.': {
    de: 'Die Plattformen, auf denen die Website läuft.',
    fr: 'Les plateformes sur lesquelles le site est servi.',
  },
  'The id of the license that the museum belongs to.': {
    de: 'Die Lizenz, zu der das Museum gehört.',
    fr: 'La licence à laquelle le musée appartient.',
  },
  'The name of the museum.': { de: 'Der Name des Museums.', fr: 'Le nom du musée.' },
  "The address of the museum's own site, which pages link to.": {
    de: 'Die Adresse der eigenen Website des Museums, auf die Seiten verweisen.',
    fr: 'L’adresse du site du musée, vers laquelle mènent les pages.',
  },
  'The id of the license whose site the group may enter.': {
    de: 'Die Lizenz, deren Website die Gruppe betreten darf.',
    fr: 'La licence dont le groupe peut voir le site.',
  },
  'The name of the group.': { de: 'Der Name der Gruppe.', fr: 'Le nom du groupe.' },
  'The address to sign in with. Case is ignored.': {
    de: 'Die Adresse zum Anmelden. Groß- und Kleinschreibung ist gleich.',
    fr: 'L’adresse de connexion. La casse est ignorée.',
  },
  'Whether the user may enter every site and change every record.': {
    de: 'Darf jede Website betreten und alles ändern.',
    fr: 'Peut entrer sur tous les sites et tout modifier.',
  },
  'The ids of the groups that the user belongs to.': {
    de: 'Die Gruppen, zu denen der Benutzer gehört.',
    fr: 'Les groupes auxquels l’utilisateur appartient.',
  },
  "A new password ends all of the user's sessions.": {
    de: 'Ein neues Passwort beendet alle Sitzungen des Benutzers.',
    fr: 'Un nouveau mot de passe met fin à toutes les sessions de l’utilisateur.',
  },
  'The user for whom the token stands.': {
    de: 'Der Benutzer, in dessen Namen der Token gilt.',
    fr: 'L’utilisateur au nom duquel le jeton agit.',
  },
  'Which script or machine has it.': {
    de: 'Welches Skript oder welcher Rechner ihn hat.',
    fr: 'Quel script ou quelle machine le possède.',
  },
  'Whether the token may only read.': { de: 'Der Token darf nur lesen.', fr: 'Le jeton peut seulement lire.' },
  'When the token ends. Null: never.': {
    de: 'Wann der Token endet. Leer: nie.',
    fr: 'Quand le jeton expire. Vide : jamais.',
  },
  'Scripts use the API by these, each in the name of a user.': {
    de: 'Damit benutzen Skripte die API, jedes im Namen eines Benutzers.',
    fr: 'Avec lesquels des scripts utilisent l’API, chacun au nom d’un utilisateur.',
  },
  'Who changed what.': { de: 'Wer was geändert hat.', fr: 'Qui a modifié quoi.' },
}
