import { Controller, Delete, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { ProviderLimits } from '../limits/provider-limits.js';
import { ProviderLimitDto, ProviderLimitListDto } from './provider-limits.dto.js';

@ApiTags('Models')
@Controller('provider-limits')
export class ProviderLimitsController {
  constructor(private readonly limits: ProviderLimits) {}

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ summary: 'List the limits of providers' })
  @ApiOkResponse({ type: ProviderLimitListDto })
  list(@CurrentCaller() caller: Caller) {
    return this.limits.list(caller);
  }

  @Delete(':id')
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({ summary: 'Remove the limit of a provider and resume the tasks that wait for it' })
  @ApiOkResponse({ type: ProviderLimitDto })
  @ApiErrors('validation_failed', 'provider_limit_not_found')
  remove(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.limits.remove(caller, id);
  }
}
