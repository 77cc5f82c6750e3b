import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Public } from '#lib/identity';
import { Health } from '#lib/observability';

@ApiTags('Health')
@Public()
@Controller()
export class HealthController {
  constructor(@Inject(Health) private readonly health: Health) {}

  @Get('healthz')
  @ApiOperation({ summary: 'Is the process alive? Asks nobody else.' })
  alive() {
    return { status: 'alive' };
  }

  @Get('readyz')
  @ApiOperation({ summary: 'Can requests be served? Valkey is told, but decides nothing.' })
  @ApiErrors('database_unavailable', 'shutting_down')
  ready() {
    return this.health.readiness();
  }

  @Get('health/coordinator')
  @ApiOperation({ summary: 'How are the coordinator and all that it needs?' })
  coordinator() {
    return this.health.system();
  }
}
