import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, DroverError, parseTraceparent } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { traceparentOfRequest } from '../server/trace-requests.js';
import type { RouteTable } from '../server/route-table.js';
import { logRefusal } from './log-refusal.js';
import { pathOf, sendProblem } from './send-problem.js';
import { toDroverError } from './to-drover-error.js';

/**
 * Every error of every route ends here and leaves as application/problem+json. Only faults of the
 * server are logged as errors, with stack and request id. The client sees only the id.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly routes: RouteTable,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(exception, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  answer(exception: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const error = this.refine(toDroverError(exception), request, reply);
    const { id, method, url, caller } = request as FastifyRequest & { caller?: Caller };
    const traceId = parseTraceparent(traceparentOfRequest(request))?.traceId;
    logRefusal(this.logger, { id, traceId, method, path: pathOf(url), caller }, error, exception);
    if (reply.sent || reply.raw.headersSent) {
      // Half of an answer was sent. Only cutting it off tells the client that it is incomplete.
      reply.raw.destroy();
      return;
    }
    sendProblem(request, reply, error);
  }

  /** A path that exists for other methods gets 405, not 404. */
  private refine(error: DroverError, request: FastifyRequest, reply: FastifyReply): DroverError {
    if (error.code !== 'route_not_found') return error;
    const methods = this.routes.methodsOf(pathOf(request.url));
    if (methods.length === 0 || methods.includes(request.method)) return error;
    void reply.header('allow', methods.join(', '));
    return new DroverError('method_not_allowed', { members: { allowed: methods } });
  }
}
