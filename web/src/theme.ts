import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

// One accent: petrol. Everything else that has a colour has a meaning.
const petrol: MantineColorsTuple = ["#e6f6f8", "#d0ebef", "#a3d7df", "#71c2ce", "#49b0bf", "#2ba3b5", "#0f8a9d", "#0b7285", "#0a6373", "#07525f"];
const ink: MantineColorsTuple = ["#e8ecea", "#d3d9d6", "#a9b2ae", "#838d88", "#626c67", "#3b4441", "#2a312f", "#1d2321", "#161b19", "#101412"];

// Typing marks the first that fits, and Enter takes it. Left to themselves,
// lists mark by a timer, which a busy browser runs after the next key: Enter
// then takes nothing, or what is not marked.
const marksFirst = { selectFirstOptionOnChange: true, selectFirstOptionOnDropdownOpen: true };

export const theme = createTheme({
  primaryColor: "petrol",
  primaryShade: { light: 7, dark: 7 },
  colors: { petrol, dark: ink },
  fontFamily: '"Inter Variable", Inter, ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "JetBrains Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.25rem" },
  defaultRadius: "md",
  radius: { xs: "3px", sm: "5px", md: "7px", lg: "10px", xl: "14px" },
  headings: { fontWeight: "620" },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: "xs" } },
    TextInput: { defaultProps: { size: "sm" } },
    PasswordInput: { defaultProps: { size: "sm" } },
    Select: { defaultProps: { ...marksFirst, openOnFocus: false, size: "sm", comboboxProps: { shadow: "md" } } },
    MultiSelect: { defaultProps: marksFirst },
    Textarea: { defaultProps: { size: "sm", autosize: true, minRows: 3, maxRows: 14 } },
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" }, centered: true, radius: "lg", overlayProps: { backgroundOpacity: 0.45, blur: 2 } } },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Tooltip: { defaultProps: { openDelay: 350, withArrow: true, fz: "xs" } },
    Menu: { defaultProps: { shadow: "md" } },
  },
});

// Colours by meaning, for both schemes. Text colours reach 4.5:1 on their
// surface, which a browser test checks.
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--canvas": "#f6f7f5",
    "--surface": "#ffffff",
    "--raised": "#fbfcfb",
    "--sunken": "#eff1ee",
    "--line": "#e0e4e0",
    "--line-strong": "#c9d0cb",
    "--text": "#18211e",
    "--dim": "#59645f",
    "--accent": "#0b7285",
    "--accent-soft": "#e3f2f4",
    "--block": "#b42318",
    "--block-soft": "#fdecea",
    "--warn": "#8a5300",
    "--warn-soft": "#fdf1d8",
    "--warn-mark": "#d98a04",
    "--info": "#2f5ea8",
    "--info-soft": "#e7effa",
    "--good": "#1a6b3c",
    "--good-soft": "#e2f3e8",
    "--good-mark": "#2e9e5b",
    "--quiet": "#59645f",
    "--quiet-soft": "#eceeec",
    "--mantine-color-body": "#ffffff",
    "--mantine-color-text": "#18211e",
    "--mantine-color-dimmed": "#59645f",
    "--mantine-color-default-border": "#d3d9d4",
    "--mantine-color-placeholder": "#6a746f",
    "--mantine-color-error": "#b42318",
  },
  dark: {
    "--canvas": "#101412",
    "--surface": "#171c1a",
    "--raised": "#1c2220",
    "--sunken": "#131816",
    "--line": "#29302d",
    "--line-strong": "#3b4441",
    "--text": "#e4e9e6",
    "--dim": "#9aa5a0",
    "--accent": "#4cc3d4",
    "--accent-soft": "#12343a",
    "--block": "#ff8b80",
    "--block-soft": "#3d1a17",
    "--warn": "#f2b84b",
    "--warn-soft": "#39290a",
    "--warn-mark": "#e9a625",
    "--info": "#8fb5f2",
    "--info-soft": "#182a45",
    "--good": "#6cd396",
    "--good-soft": "#12311f",
    "--good-mark": "#3fbf75",
    "--quiet": "#9aa5a0",
    "--quiet-soft": "#232a27",
    "--mantine-color-body": "#171c1a",
    "--mantine-color-text": "#e4e9e6",
    "--mantine-color-dimmed": "#9aa5a0",
    "--mantine-color-default-border": "#333b38",
    "--mantine-color-placeholder": "#8b9691",
    "--mantine-color-error": "#ff8b80",
  },
});
