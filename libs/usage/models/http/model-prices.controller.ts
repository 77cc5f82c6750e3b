import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { type Account, Auth, CurrentAccount } from '#lib/identity';
import { PriceKeeper } from '../prices/price-keeper.js';
import {
  ListModelPricesQuery,
  ModelPriceDto,
  CreateModelPriceDto,
  ModelPricePageDto,
} from './model-prices.dto.js';

@ApiTags('Models')
@Controller('model-prices')
export class ModelPricesController {
  constructor(private readonly prices: PriceKeeper) {}

  @Get()
  @Auth({ kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'listModelPrices',
    summary: 'List the prices of models, by model, the newest first',
  })
  @ApiOkResponse({ type: ModelPricePageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@Query() { model, at, ...page }: ListModelPricesQuery) {
    return this.prices.list({ model, at }, page);
  }

  @Post()
  @Auth({ workspace: false, operator: true })
  @ApiOperation({
    operationId: 'createModelPrice',
    summary: 'Create a price of a model, from now or a later time (operators)',
    description:
      'A price never changes. To correct one, create a new price from now on. A repeated ' +
      'price gets the first answer.',
  })
  @ApiCreatedResponse({ type: ModelPriceDto })
  @ApiErrors('validation_failed', 'price_exists')
  create(@CurrentAccount() account: Account, @Body() body: CreateModelPriceDto) {
    return this.prices.add(account, body);
  }
}
