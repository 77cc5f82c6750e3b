export { ClientGone, clientGone } from './client-gone.js';
export {
  type AdapterOptions,
  BODY_LIMIT,
  createFastifyAdapter,
  DroverFastifyAdapter,
} from './adapter.js';
export { API_PREFIX, configureHttp, type HttpOptions } from './configure.js';
export * from './dto/fields.js';
export { field, type FieldOptions, type FieldRule, listField } from './dto/field.js';
export { PageQuery } from './dto/page-query.js';
export { Hot, type HotCall, type RouteGuard } from './hot-route.js';
export { IfMatch, parseIfMatch, UuidParam } from './params.js';
export { ProblemFilter } from './problem/problem.filter.js';
export { PROBLEM_TYPE, sendProblem } from './problem/send-problem.js';
export { setEtag, Versioned } from './versioned.js';
export { DtoPipe, validateDto } from './validation/pipe.js';
export {
  type IdempotencyRecord,
  purgeExpiredKeys,
  type StoredAnswer,
  storeAnswer,
} from './idempotency/answers.js';
export { Idempotency, Idempotent } from './idempotency/decorators.js';
export { ApiErrors, Problem } from './openapi/api-errors.js';
export { createOpenApiDocument, type OpenApiOptions, setupOpenApi } from './openapi/setup.js';
