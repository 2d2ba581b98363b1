// A choice of a few options, all visible. Uses radio buttons: arrow keys, names and states come from the browser.

import {h} from './dom';

let count = 0;

export interface Segmented<T extends string> {
  element: HTMLFieldSetElement;
  value: T;
}

export function segmented<T extends string>(
  legend: string,
  options: readonly {value: T; label: string}[],
  value: T,
  onChange: (value: T) => void,
): Segmented<T> {
  const name = `segmented-${++count}`;
  const inputs = options.map((option) =>
    h('input', {
      type: 'radio',
      name,
      value: option.value,
      checked: option.value === value,
      onchange: () => onChange(option.value),
    }),
  );
  const element = h(
    'fieldset',
    {class: 'segmented', role: 'radiogroup'},
    h('legend', {}, legend),
    ...options.map((option, i) => h('label', {}, inputs[i], h('span', {}, option.label))),
  );
  return {
    element,
    get value() {
      return (inputs.find((input) => input.checked)?.value ?? value) as T;
    },
    set value(next: T) {
      for (const input of inputs) input.checked = input.value === next;
    },
  };
}
