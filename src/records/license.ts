import { closureOf } from './closure.ts'
import { exampleId, flag, host, id, ids, line, orNull, time, timeOrNull } from './fields.ts'
import { languages as languageKind } from './language.ts'
import { licenseTypes } from './license-type.ts'
import { platforms as platformKind } from './platform.ts'
import { recordKind } from './record-kind.ts'

const domain = host(
  'The host that is licensed. If several licenses have the same domain, the one with the lowest id counts.',
)
const typeId = id('The id of the license type.')

const languages = { table: 'license_languages', own: 'license_id', other: 'language_id', position: 'position' } as const
const platforms = { table: 'license_platforms', own: 'license_id', other: 'platform_id' } as const

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
    secret: {},
  },
  links: { language_ids: languages, platform_ids: platforms },
  filters: {
    language_id: { schema: id("The id of one of the license's languages."), link: languages },
    platform_id: { schema: id("The id of one of the license's platforms."), link: platforms },
  },
  knownBy: 'domain',
  sorts: ['id', 'domain', 'name'],
  constraints: {
    licenses_type_id_fkey: { field: 'type_id', refersTo: licenseTypes },
    license_languages_language_id_fkey: { field: 'language_ids', refersTo: languageKind },
    license_platforms_platform_id_fkey: { field: 'platform_ids', refersTo: platformKind },
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
