import { ConflictHttpError } from '../errors/http-errors.ts'
import { closureOf } from './closure.ts'
import {
  email as emailField,
  exampleId,
  flag,
  host,
  id,
  ids,
  languageTag,
  line,
  orNull,
  password,
  time,
  timeOrNull,
  url,
} from './fields.ts'
import { recordKind, type RecordKind } from './record-kind.ts'
import { longestEmail } from '../sign-in/account.ts'
import { hashPassword, longestPassword, shortestPassword } from '../sign-in/passwords.ts'

export const licenseTypes = recordKind({
  name: 'license type',
  plural: 'license types',
  table: 'license_types',
  purpose: 'Labels of licenses. A license without a type is not served.',
  fields: { required: { type: line('The label of the license type.') } },
  knownBy: 'type',
  sorts: ['id', 'type'],
  removalRefusal: 'This license type is still in use: licenses refer to it.',
  constraints: { license_types_type_key: { field: 'type' } },
  examples: { create: { type: 'standard' }, change: { type: 'premium' } },
})

export const languages = recordKind({
  name: 'language',
  plural: 'languages',
  table: 'languages',
  purpose: 'The languages that sites are served in.',
  fields: {
    required: {
      code: languageTag('The language tag (BCP 47).'),
      name: line('The name of the language, in that language.'),
    },
  },
  filters: {
    license_id: {
      schema: id('The id of a license that has the language.'),
      link: { table: 'license_languages', own: 'language_id', other: 'license_id' },
    },
  },
  knownBy: 'code',
  sorts: ['id', 'code'],
  removalRefusal: 'This language is still in use: license languages refer to it.',
  constraints: { languages_code_key: { field: 'code' } },
  open: true,
  examples: { create: { code: 'pt-BR', name: 'Português' }, change: { name: 'Português (Brasil)' } },
})

export const platforms = recordKind({
  name: 'platform',
  plural: 'platforms',
  table: 'platforms',
  purpose: 'What sites are served on, such as the web or a kiosk.',
  fields: { required: { name: line('The name of the platform.') } },
  filters: {
    license_id: {
      schema: id('The id of a license that is served on the platform.'),
      link: { table: 'license_platforms', own: 'platform_id', other: 'license_id' },
    },
  },
  knownBy: 'name',
  sorts: ['id', 'name'],
  removalRefusal: 'This platform is still in use: license platforms refer to it.',
  constraints: { platforms_name_key: { field: 'name' } },
  open: true,
  examples: { create: { name: 'kiosk' }, change: { name: 'kiosk in the hall' } },
})

const domain = host(
  'The host that is licensed. If several licenses have the same domain, the one with the lowest id counts.',
)
const typeId = id('The id of the license type.')

const languageLinks = {
  table: 'license_languages',
  own: 'license_id',
  other: 'language_id',
  position: 'position',
} as const
const platformLinks = { table: 'license_platforms', own: 'license_id', other: 'platform_id' } as const

export const licenses = recordKind({
  name: 'license',
  plural: 'licenses',
  table: 'licenses',
  purpose: 'A license lets a host be served, and describes its site.',
  fields: {
    generated: { created_at: time('When the license was added.'), updated_at: time('When it was last changed.') },
    // A license that was not added through the API may have no type. Its site is not served.
    required: { domain, name: line('The name of the site.'), type_id: orNull(typeId) },
    written: { type_id: typeId },
    optional: {
      protected: flag("Whether only admins and members of the license's groups may enter the site."),
      suspended: flag('Whether the site is closed for now to everybody but admins.'),
      valid_from: timeOrNull('When the site opens. Before that, only admins see it. Null: it is open already.'),
      valid_until: timeOrNull('When the site closes to everybody but admins. Null: never.'),
      language_ids: ids("The ids of the site's languages, the default first."),
      platform_ids: ids('The ids of the platforms that the site is served on.'),
    },
  },
  links: { language_ids: languageLinks, platform_ids: platformLinks },
  filters: {
    language_id: { schema: id("The id of one of the license's languages."), link: languageLinks },
    platform_id: { schema: id("The id of one of the license's platforms."), link: platformLinks },
  },
  knownBy: 'domain',
  sorts: ['id', 'domain', 'name', 'valid_from', 'valid_until', 'created_at', 'updated_at'],
  constraints: {
    licenses_type_id_fkey: { field: 'type_id', refersTo: licenseTypes },
    license_languages_language_id_fkey: { field: 'language_ids', refersTo: languages },
    license_platforms_platform_id_fkey: { field: 'platform_ids', refersTo: platforms },
  },
  cacheKey: 'domain',
  errorsOf({ valid_from: from, valid_until: until }) {
    const isEmpty = typeof from === 'string' && typeof until === 'string' && Date.parse(until) <= Date.parse(from)
    return isEmpty ? [{ field: 'valid_until', message: 'valid_until must be after valid_from' }] : []
  },
  stateOf({ valid_from: from, valid_until: until, suspended }) {
    const validity = { valid_from: dateOf(from), valid_until: dateOf(until), suspended: suspended === true }
    return closureOf(validity, Date.now())?.reason ?? 'open'
  },
  async warnOf(db, { id, domain }) {
    const first = await db
      .selectFrom('licenses')
      .innerJoin('license_types', 'license_types.id', 'licenses.type_id')
      .select('licenses.id')
      .where('domain', '=', String(domain))
      .orderBy('licenses.id')
      .executeTakeFirst()
    if (first === undefined || first.id === id) return undefined
    return `${String(domain)} has several licenses, and license ${first.id} is the one that counts.`
  },
  examples: {
    create: { domain: 'museum.example', name: 'The Museum', type_id: exampleId, language_ids: [exampleId] },
    change: { name: 'The New Museum', protected: true },
  },
})

function dateOf(time: unknown): Date | null {
  return typeof time === 'string' ? new Date(time) : null
}

const museumLicenseId = id('The id of the license that the museum belongs to.')

export const museums = recordKind({
  name: 'museum',
  plural: 'museums',
  table: 'museums',
  purpose: "The museums that a license's site shows.",
  fields: {
    required: { license_id: museumLicenseId, name: line('The name of the museum.') },
    optional: { url: orNull(url("The address of the museum's own site, which pages link to.")) },
  },
  knownBy: 'name',
  sorts: ['id', 'name'],
  constraints: { museums_license_id_fkey: { field: 'license_id', refersTo: licenses, cascades: true } },
  open: true,
  cacheKey: 'license_id',
  examples: {
    create: { license_id: exampleId, name: 'Museum of Bridges', url: 'https://bridges.example/' },
    change: { name: 'Museum of Long Bridges' },
  },
})

const groupLicenseId = id('The id of the license whose site the group may enter.')

export const groups = recordKind({
  name: 'group',
  plural: 'groups',
  table: 'groups',
  purpose: "Users who may enter a license's site if it is protected.",
  fields: { required: { license_id: groupLicenseId, name: line('The name of the group.') } },
  knownBy: 'name',
  sorts: ['id', 'name'],
  constraints: { groups_license_id_fkey: { field: 'license_id', refersTo: licenses, cascades: true } },
  cacheKey: 'license_id',
  examples: { create: { license_id: exampleId, name: 'Guides' }, change: { name: 'Guides and guards' } },
})

const email = emailField('The address to sign in with. Case is ignored.', longestEmail)
const groupLinks = { table: 'user_groups', own: 'user_id', other: 'group_id' } as const
const onlyAdmin = 'This user is the only admin. Make somebody else an admin first.'

export const users = recordKind({
  name: 'user',
  plural: 'users',
  table: 'users',
  purpose: 'People who can sign in. An admin may enter every site and change every record.',
  fields: {
    required: { email },
    optional: {
      admin: flag('Whether the user may enter every site and change every record.'),
      group_ids: ids('The ids of the groups that the user belongs to.'),
    },
    secret: {
      password: password("A new password ends all of the user's sessions.", shortestPassword, longestPassword),
    },
  },
  links: { group_ids: groupLinks },
  filters: {
    email: { schema: email, ignoresCase: true },
    group_id: { schema: id("The id of one of the user's groups."), link: groupLinks },
  },
  knownBy: 'email',
  sorts: ['id', 'email'],
  removalRefusal: onlyAdmin,
  constraints: {
    users_email_key: { field: 'email' },
    users_lower_email: { field: 'email' },
    user_groups_group_id_fkey: { field: 'group_ids', refersTo: groups, cascades: true },
  },
  cacheKey: 'id',
  async prepare({ password, ...values }) {
    return typeof password === 'string' ? { ...values, password_hash: await hashPassword(password) } : values
  },
  async assertAllowed(db, id, change) {
    if (change !== null && change['admin'] !== false) return
    // Locks all admins, in a fixed order, so that two of them cannot remove each other at the same time.
    const [admin, another] = await db
      .selectFrom('users')
      .select('id')
      .where('admin', '=', true)
      .orderBy('id')
      .forUpdate()
      .execute()
    if (admin?.id === id && another === undefined) {
      throw new ConflictHttpError(onlyAdmin)
    }
  },
  examples: {
    create: { email: 'guide@museum.example', password: 'four doors and an arch', group_ids: [exampleId] },
    change: { group_ids: [] },
  },
})

/** All kinds of records. Each comes after the kinds that it refers to. */
export const kinds: readonly RecordKind[] = [licenseTypes, languages, platforms, licenses, museums, groups, users]
