import { flag, host, id, ids, line, orNull, time } from './fields.ts'
import { recordKind } from './record-kind.ts'

const domain = host(
  'The host that is licensed. If several licenses have the same domain, the one with the lowest id counts.',
)
const name = line('The name of the site.')
const typeId = id('The id of the license type.')

const languages = { table: 'license_languages', own: 'license_id', other: 'language_id', position: 'position' } as const
const platforms = { table: 'license_platforms', own: 'license_id', other: 'platform_id' } as const

export const licenses = recordKind({
  name: 'license',
  plural: 'licenses',
  table: 'licenses',
  fields: {
    generated: { created_at: time('When the license was added.'), updated_at: time('When it was last changed.') },
    // A license that was not added through the API may have no type. Its site is not served.
    required: { domain, name, type_id: orNull(typeId) },
    written: { type_id: typeId },
    optional: {
      protected: flag("Whether only admins and members of the license's groups may enter the site."),
      language_ids: ids("The ids of the site's languages, the default first."),
      platform_ids: ids('The ids of the platforms that the site is served on.'),
    },
    secret: {},
  },
  links: { language_ids: languages, platform_ids: platforms },
  filters: {
    domain: { schema: domain },
    name: { schema: name },
    type_id: { schema: typeId },
    language_id: { schema: id("The id of one of the license's languages."), link: languages },
    platform_id: { schema: id("The id of one of the license's platforms."), link: platforms },
  },
  knownBy: 'domain',
  sorts: ['id', 'domain', 'name'],
  constraints: {
    licenses_type_id_fkey: { field: 'type_id', refersTo: 'license type' },
    license_languages_language_id_fkey: { field: 'language_ids', refersTo: 'language' },
    license_platforms_platform_id_fkey: { field: 'platform_ids', refersTo: 'platform' },
  },
  storeKey: 'domain',
  examples: {
    id: '4',
    create: { domain: 'museum.example', name: 'The Museum', type_id: '1', language_ids: ['1', '2'] },
    change: { name: 'The New Museum', protected: true },
  },
})
