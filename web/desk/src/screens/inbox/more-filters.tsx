import type { Filter } from '@desk/backend/reports';
import { Button } from '@desk/components/button';
import { Checkbox } from '@desk/components/checkbox';
import { dense, Field } from '@desk/components/field';
import { useText } from '@desk/i18n/language';
import { dayBefore, endOfDay, startOfDay } from '@desk/lib/local-day';
import { useEffect, useState } from 'react';
import { Input, NativeSelect } from '@/components/ui/input';
import { regions } from '@/content/regions';
import { withoutMore } from './filter';

/** The filters besides the search and the status. */
export function MoreFilters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const text = useText();
  const set = (change: Partial<Filter>) => onChange({ ...filter, ...change });
  const [product, setProduct] = useState(filter.product ?? '');
  useEffect(() => setProduct(filter.product ?? ''), [filter.product]);
  const takeProduct = () => set({ product: product.trim() || undefined });
  return (
    <div className="grid grid-cols-2 gap-2">
      <Field label={text.inbox.region}>
        {(props) => (
          <NativeSelect
            {...props}
            className={dense}
            value={filter.region ?? ''}
            onChange={(e) => set({ region: e.target.value || undefined })}
          >
            <option value="">{text.inbox.everyRegion}</option>
            {regions.map((region) => (
              <option key={region.name}>{region.name}</option>
            ))}
            <option value="-">{text.inbox.noRegion}</option>
          </NativeSelect>
        )}
      </Field>
      <Field label={text.inbox.product}>
        {(props) => (
          <Input
            {...props}
            className={dense}
            value={product}
            onChange={(e) => setProduct(e.target.value)}
            onBlur={takeProduct}
            onKeyDown={(e) => e.key === 'Enter' && takeProduct()}
          />
        )}
      </Field>
      <Field label={text.inbox.since}>
        {(props) => (
          <Input
            {...props}
            type="date"
            className={dense}
            value={filter.since?.slice(0, 10) ?? ''}
            onChange={(e) => set({ since: startOfDay(e.target.value) })}
          />
        )}
      </Field>
      <Field label={text.inbox.until}>
        {(props) => (
          <Input
            {...props}
            type="date"
            className={dense}
            value={dayBefore(filter.until)}
            onChange={(e) => set({ until: endOfDay(e.target.value) })}
          />
        )}
      </Field>
      <Checkbox
        className="min-h-9"
        label={text.inbox.photo}
        checked={filter.photo === true}
        onChange={(on) => set({ photo: on || undefined })}
      />
      <Button
        variant="link"
        className="col-span-2 justify-self-start"
        onClick={() => onChange(withoutMore(filter))}
      >
        {text.inbox.clear}
      </Button>
    </div>
  );
}
