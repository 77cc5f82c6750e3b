export { ClientGone, clientGone } from './connections/client-gone.js';
export { createFastifyAdapter, DroverFastifyAdapter } from './server/adapter.js';
export { API_PREFIX, configureHttp } from './server/configure.js';
export * from './dto/fields.js';
export { field, type FieldOptions, type Names } from './dto/field.js';
export { PageQuery } from './dto/page-query.js';
export {
  csvFile,
  csvLine,
  type Format,
  FORMAT_DESCRIPTION,
  FORMATS,
  wantsCsv,
} from './answers/csv.js';
export { EventStream, type ServerSentEvent, textOf } from './answers/event-stream.js';
export { Hot, type HotCall, isHotRoute, type RouteGuard } from './server/hot-route.js';
export { listen, type ListenOptions } from './connections/listen.js';
export { IfMatch, UuidParam } from './parameters/params.js';
export {
  type Collection,
  type FindIds,
  MAX_CANDIDATES,
  setShortIds,
  type ShortIds,
} from './parameters/short-ids.js';
export { Prefer } from './parameters/prefer.js';
export { parseJsonBody } from './body/json-body.js';
export { BodyBytes, RawBody } from './body/raw-body.js';
export { BodyStream, type Streamed, StreamedBody } from './body/streamed-body.js';
export { sendProblem } from './problem/send-problem.js';
export { traceparentOfRequest } from './server/trace-requests.js';
export { Versioned } from './answers/etag.interceptor.js';
export { validateDto } from './validation/pipe.js';
export { type IdempotencyRecord, purgeExpiredKeys, storeAnswer } from './idempotency/answers.js';
export { Idempotency, Idempotent } from './idempotency/idempotency.interceptor.js';
export { ApiErrors, Problem } from './openapi/api-errors.js';
export { OPERATION_ID, operationOf } from './openapi/operation-id.js';
export { setupOpenApi } from './openapi/setup.js';
