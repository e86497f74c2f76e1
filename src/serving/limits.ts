/** What one client, and all of them together, may take of the server; docs/operating.md lists them. Milliseconds and bytes. */

/** Of a request line and its headers. */
export const maxHeaderSize = 16 * 1024
/** From a connection, or a request's first byte, to the end of the headers. */
export const headersTimeout = 10_000
/** From a request's first byte to its last. */
export const requestTimeout = 30_000
/** How long a connection is silent in both directions while a request is under way, or its answer is not read. */
export const connectionTimeout = 60_000
/** How often the first two of those are looked at. */
export const connectionsCheckingInterval = 2000
/** How long a connection waits for its next request: longer than proxies keep theirs, so that they close first. */
export const keepAliveTimeout = 72_000
/** How many connections there are at once; another is closed as soon as it is there. */
export const maxConnections = 10_000
/** How many requests of a connection are under way; no more is read from it then, and what was read is held. */
export const maxUnderWay = 20
/** How many requests all connections together hold so; one that would hold another is ended. */
export const maxHeld = 10_000
/** Of a request's body, where its route does not say less. */
export const bodyLimit = 64 * 1024
/** How long a turn of the event loop may take, from its first request on, until what it has not begun is refused. */
export const longestTurn = 1000
/** How long a client that could not be understood may take to read so. */
export const lingering = 1000
/** How long what still comes is accepted once the server ends, unless nothing does. */
export const lameDuck = 1000
/** How long nothing has to come for that. */
export const beat = 100
/** How long a half-sent request may take to be complete once the server ends, and a client to read something. */
export const patience = 5000
/** How long requests that are under way have to end once the server ends: less than the 30 s that process managers give. */
export const grace = 25_000
