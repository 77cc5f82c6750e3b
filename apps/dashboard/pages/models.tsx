import { Page } from '../components/parts.js';
import { ModelPrices } from '../components/model-prices.js';
import { ModelRouting } from '../components/model-routing.js';
import { ModelProviders } from '../components/model-providers.js';
import { ProviderLimits } from '../components/provider-limits.js';
import { useWorkspace } from '../api/workspace.js';

/** Limits of providers, ways to providers, routing, and prices of models. */
export function ModelsPage() {
  const { may } = useWorkspace();
  return (
    <Page title="Models">
      <div className="stack">
        <ProviderLimits />
        {may('ADMIN') && <ModelProviders />}
        <ModelRouting />
        <ModelPrices />
      </div>
    </Page>
  );
}
