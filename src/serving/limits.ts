/** What one client, and all clients together, may use. docs/operating.md lists these. In milliseconds and bytes. */

/** The request line and all headers. */
export const maxHeaderSize = 16 * 1024
/** From the connection or a request's first byte to the end of its headers. */
export const headersTimeout = 10_000
/** From a request's first byte to its last. */
export const requestTimeout = 30_000
/** Silence in both directions during a request. Twice that while the client does not read its answer. */
export const connectionTimeout = 60_000
/** How often headersTimeout and requestTimeout are checked, and how late the others may begin. */
export const connectionsCheckingInterval = 2000
/** Silence between two requests. Longer than usual in proxies, so that the proxy closes the connection. */
export const keepAliveTimeout = 72_000
/** Open connections. Further ones are closed. */
export const maxConnections = 10_000
/** Unanswered requests on one connection. The server then stops reading from it, and holds what it has already read. */
export const maxUnderWay = 20
/** Held requests on all connections. A connection that would add another is closed. */
export const maxHeld = 10_000
/** The body, unless the route sets another limit. */
export const bodyLimit = 64 * 1024
/** Of a turn of the event loop, for starting requests. The others wait for the next turns. */
export const turnSlice = 100
/** One turn of the event loop, and the wait for one. Requests that have not started by then are refused. */
export const longestTurn = 1000
/** For a client to read that it sent invalid HTTP. */
export const lingering = 1000
/** How long a server that shuts down still accepts connections. */
export const lameDuck = 1000
/** Silence that ends the lame-duck period. */
export const lull = 100
/** During shutdown, for a half-sent request and for a client that does not read its answer. */
export const patience = 5000
/** During shutdown, for requests that are still being handled. Less than the 30 s that process managers allow. */
export const grace = 25_000
