/** Who makes a change, as the audit keeps it. */
export interface Author {
  readonly via: 'api' | 'command'
  /** The user who is signed in. Null for a command. */
  readonly user: { readonly id: string; readonly email: string } | null
  /** The id of the API token that stands for the user, or null. */
  readonly tokenId: string | null
  /** The operating system's name of who runs the command, if it is known. Null for the API. */
  readonly systemUser: string | null
}
